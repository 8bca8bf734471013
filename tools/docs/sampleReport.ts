import { migrationResult } from '../../cli/migrate/migrationDocuments.ts';
import { readResult } from '../../cli/migrate/result.ts';
import { renderReport } from '../../cli/report/renderReport.ts';

/** Where the documents have the report of their first migration. */
export const SAMPLE_REPORT = 'docs/samples/report.html';

const at = (second: number) => `2026-01-01T09:00:0${second}.000Z`;

/** What differs from run to run, by its name in a result. */
const changing: Readonly<Record<string, unknown>> = {
  startedAt: at(0),
  resumedAt: [at(2)],
  readAt: at(7),
  provedAt: at(8),
  finishedAt: at(8),
  seconds: 1,
};

/** A generated id, such as that of the source's default organisation. */
const generatedId = /\b(?!330000000000000)\d{18}\b/g;

/**
 * Renders the report of the first migration that the documents show, as if it had run at a fixed time on fixed ports.
 * @param directory its run directory
 */
export async function sampleReport(directory: string): Promise<string> {
  const read = await readResult(directory);
  if (read === undefined) throw new Error(`${directory} holds no finished migration`);
  const text = JSON.stringify(read)
    .replaceAll(read.source.place, 'http://127.0.0.1:8080')
    .replaceAll(read.target.place, 'http://127.0.0.1:8081')
    .replace(generatedId, '300000000000000000');
  const result = migrationResult.parse(JSON.parse(text, (key, value: unknown) => changing[key] ?? value));
  // Progress may show phases at the same time in any order: each is there once.
  const phases = new Map(result.phases.map((phase) => [phase.phase, { ...phase, perSecond: phase.records }]));
  return renderReport({ ...result, phases: [...phases.values()] });
}
