import { resolve } from 'node:path';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { migrationMissing } from '../../shared/errors/placeErrors.ts';
import { UsageError } from '../command.ts';
import { printable } from '../terminal.ts';
import { counted } from '../texts.ts';
import { type MigrationState, readState } from './run.ts';
import { listRunDirectories, RUN_PREFIX, requireOwnRun } from './runDirectory.ts';

/** A migration that has a run directory. */
export interface ExistingRun {
  readonly directory: string;
  readonly state: MigrationState;
}

/** The verbs that work on an existing migration, and which of those in the current directory each may mean. */
const candidates: Readonly<
  Record<'resume' | 'status' | 'report' | 'cleanup', (runs: readonly ExistingRun[]) => Candidates>
> = {
  resume: (runs) => ({ kind: 'open', runs: runs.filter(isOpen) }),
  status(runs) {
    const open = runs.filter(isOpen);
    return open.length > 0 ? { kind: 'open', runs: open } : { kind: 'planned or finished', runs };
  },
  report: (runs) => ({ kind: 'finished', runs: runs.filter(({ state }) => state.finishedAt !== undefined) }),
  cleanup: (runs) => ({ kind: 'to clean up', runs }),
};

type Verb = keyof typeof candidates;

interface Candidates {
  readonly kind: string;
  readonly runs: readonly ExistingRun[];
}

/**
 * Chooses the migration that a call means: the named one, or the only one of those in the current directory that the verb
 * is for. Nothing is read of a directory that others could have written.
 * @throws UsageError where several could be meant; IdentityError NOT_FOUND, PERMISSION_DENIED
 */
export async function chooseRun(path: string | undefined, verb: Verb, now: Date): Promise<ExistingRun> {
  if (path !== undefined) return readRun(resolve(path));
  const { own, foreign } = await listRuns();
  const { kind, runs } = candidates[verb](own);
  const [only, ...others] = runs;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined) {
    throw new UsageError(listText(`${runs.length} migrations are ${kind}: name one`, runs, verb, now));
  }
  if (own.length > 0) {
    throw new UsageError(listText(`no migration is ${kind}: name one`, own, verb, now));
  }
  throw foreign ?? migrationMissing(resolve(`${RUN_PREFIX}*`));
}

/** Says which migration it is, and how old. */
export function describeRun({ state: { settings, startedAt } }: ExistingRun, now: Date): string {
  return printable(
    `from ${settings.from} to ${settings.to}, started ${ageText(now.getTime() - Date.parse(startedAt))} ago`,
  );
}

async function readRun(directory: string): Promise<ExistingRun> {
  await requireOwnRun(directory);
  return { directory, state: await readState(directory) };
}

/** Lists the migrations in the current directory, the latest last, without those that others could have written. */
async function listRuns() {
  const own: ExistingRun[] = [];
  let foreign: IdentityError | undefined;
  for (const directory of await listRunDirectories()) {
    try {
      own.push(await readRun(directory));
    } catch (error) {
      if (!(error instanceof IdentityError)) throw error;
      foreign = error;
    }
  }
  return { own: own.toSorted((a, b) => (a.state.startedAt < b.state.startedAt ? -1 : 1)), foreign };
}

/** Whether a migration was begun and not ended. A plan is carried out only by its name. */
function isOpen({ state }: ExistingRun): boolean {
  const { isPlan = false, plannedAt, confirmedAt, finishedAt } = state;
  return finishedAt === undefined && (confirmedAt !== undefined || (plannedAt === undefined && !isPlan));
}

function listText(problem: string, runs: readonly ExistingRun[], verb: Verb, now: Date): string {
  const lines = runs.map((run) => {
    const stage = run.state.finishedAt !== undefined ? 'finished' : isOpen(run) ? 'open' : 'a plan';
    return `identity migrate ${verb} --run-dir ${run.directory} (${stage}, ${describeRun(run, now)})`;
  });
  return [problem, ...lines].join('\n  ');
}

const units = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
] as const;

function ageText(ms: number): string {
  const [length, unit] = units.find(([one]) => ms >= one) ?? [1_000, 'second'];
  return counted(Math.max(0, Math.floor(ms / length)), unit);
}
