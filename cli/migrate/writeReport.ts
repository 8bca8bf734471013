import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { completeFile } from '../../shared/durableFiles.ts';
import { openFile } from '../places/filePlace.ts';
import type { MigrationResult } from './result.ts';
import type { MigrationSettings } from './settings.ts';

type Settings = Pick<MigrationSettings, 'report'>;

/** Checks before the work that a report can be written. */
export async function requireReportable({ report }: Settings): Promise<void> {
  if (report === undefined) return;
  await openFile(report).requireFree?.();
  await access(dirname(report), constants.W_OK);
}

/** Writes the report of a migration where that was asked for; a resumed migration replaces its own. */
export async function writeReport({ report }: Settings, result: MigrationResult): Promise<void> {
  if (report === undefined) return;
  const { renderReport } = await import('../report/renderReport.ts');
  await completeFile(report, renderReport(result), 'replacing');
}
