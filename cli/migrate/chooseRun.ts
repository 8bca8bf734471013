// Choosing an existing migration by its run directory.

import { resolve } from 'node:path';
import { migrationMissing } from '../../shared/errors/placeErrors.ts';
import { UsageError } from '../command.ts';
import { printable } from '../terminal.ts';
import { type MigrationState, readMigrationState } from './migrationRun.ts';
import { listRunDirectories, RUN_PREFIX, requireOwnRun } from './runDirectory.ts';

/** An existing migration. */
export interface ExistingRun {
  readonly directory: string;
  readonly state: MigrationState;
}

/**
 * Returns the migration in a run directory; by default in the only run directory of the current directory. Does not read a
 * directory that others can write to.
 * @throws UsageError for several run directories; IdentityError NOT_FOUND, PERMISSION_DENIED
 */
export async function chooseRun(path: string | undefined): Promise<ExistingRun> {
  const directory = path === undefined ? await findOnlyRun() : resolve(path);
  await requireOwnRun(directory);
  return { directory, state: await readMigrationState(directory) };
}

async function findOnlyRun(): Promise<string> {
  const directories = await listRunDirectories();
  const [only, ...others] = directories;
  if (only === undefined) throw migrationMissing(resolve(`${RUN_PREFIX}*`));
  if (others.length === 0) return only;
  const names = directories.toSorted().map(printable);
  throw new UsageError(
    [`there are ${directories.length} migrations here: specify one with --run-dir`, ...names].join('\n  '),
  );
}

/** Describes a migration by its places and its start. */
export function describeRun({ state: { settings, startedAt } }: ExistingRun): string {
  return printable(`from ${settings.from} to ${settings.to}, started at ${startedAt}`);
}
