import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { completeFile } from '../../shared/durableFiles.ts';
import { selectedKinds } from '../secretKinds.ts';
import { listPhases, readJournal } from './journal.ts';
import { NOT_FOUND, sortNotices } from './notices.ts';
import type { MigrationPlan } from './plan.ts';
import type { Proved } from './prove.ts';
import { type MigrationResult, migrationResult } from './result.ts';
import type { MigrationRun, Side } from './run.ts';
import { readJson } from './runDirectory.ts';

const NAME = 'result.json';

/** Reads the result of a migration; undefined before its end. */
export function readResult(directory: string): Promise<MigrationResult | undefined> {
  return readJson(directory, NAME, migrationResult);
}

/** Writes the result of a migration into its run directory. */
export async function makeResult(
  run: MigrationRun,
  plan: MigrationPlan,
  target: Side,
  proved: Proved,
): Promise<MigrationResult> {
  const { settings, startedAt, exported, moved: { response, stored } = {}, leftOut = [] } = run.state;
  const { proof, logins, organisations, organisationsOmitted, sourceDigest, targetDigest } = proved;
  const journal = readJournal(run.directory);
  const { summary } = response ?? {};
  const missing = (exported?.missing ?? []).map((id) => ({ type: 'org', id, message: NOT_FOUND }));
  const notices = sortNotices(response, target, plan.leftToDo);
  const errors = [...missing, ...notices.errors];
  const { orgIds, excludedOrgIds, onConflict, newOrgsOnly } = settings;
  const { place: _, ...object } = stored ?? { place: '' };
  const result: MigrationResult = {
    version: 1,
    outcome: errors.length > 0 || proof.unexpected > 0 ? 'listed' : 'done',
    command: packageJson.version,
    startedAt,
    finishedAt: new Date().toISOString(),
    source: { ...plan.source, digest: sourceDigest },
    target: { ...plan.target, ...object, ...(targetDigest === undefined ? {} : { digest: targetDigest }) },
    options: { orgIds, excludedOrgIds, secrets: [...selectedKinds(settings)], onConflict, newOrgsOnly },
    leftOut,
    organisations,
    organisationsOmitted,
    moved: {
      organisations: exported?.organisations ?? 0,
      records: exported?.records ?? 0,
      exported: plan.sections,
      ...(summary === undefined ? {} : { imported: importedCounts(summary) }),
    },
    phases: listPhases(journal),
    resumedAt: journal.flatMap(({ event, time }) => (event === 'resumed' ? [time] : [])),
    ...notices,
    errors,
    proof,
    logins,
  };
  await completeFile(join(run.directory, NAME), `${JSON.stringify(result)}\n`, 'replacing');
  return result;
}

type Summary = NonNullable<MigrationRun['state']['moved']>['response'];

function importedCounts({
  created,
  unchanged,
  overwritten = {},
  skipped = {},
  failed,
  notCarried,
}: NonNullable<Summary>['summary']) {
  return { created, unchanged, overwritten, skipped, failed, notCarried };
}
