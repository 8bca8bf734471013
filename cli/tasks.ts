import { z } from 'zod';
import type { ImportTask } from '../functions/import/tasks.ts';
import { type Surroundings, UsageError } from './command.ts';
import type { DatabasePlace, ImportOptions, Place } from './places/place.ts';

/** One of several processes that share the work of a command. */
interface Task {
  /** From 0. */
  readonly index: number;
  readonly count: number;
  /** What the tasks of one start have in common, and no other start has; empty for a process that is no task. */
  readonly execution: string;
}

const number = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a number')
  .transform(Number);

/** The variables that Cloud Run sets for each task of a job. */
const environment = z
  .object({
    CLOUD_RUN_TASK_INDEX: number.default(0),
    CLOUD_RUN_TASK_COUNT: number.default(1),
    CLOUD_RUN_EXECUTION: z.string().default(''),
  })
  .refine((set) => set.CLOUD_RUN_TASK_INDEX < set.CLOUD_RUN_TASK_COUNT, {
    path: ['CLOUD_RUN_TASK_INDEX'],
    message: 'must be less than CLOUD_RUN_TASK_COUNT',
  })
  .refine((set) => set.CLOUD_RUN_TASK_COUNT === 1 || set.CLOUD_RUN_EXECUTION !== '', {
    path: ['CLOUD_RUN_EXECUTION'],
    message:
      'must be set, the same for all tasks and another one for each start, where CLOUD_RUN_TASK_COUNT is above 1',
  });

/**
 * Reads which task of how many this process is; the only one by default. An empty variable counts as unset.
 * @throws UsageError
 */
function readTask(variables: Readonly<Record<string, string | undefined>>): Task {
  const set = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const { data, error } = environment.safeParse(set);
  if (data === undefined)
    throw new UsageError(error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '));
  return { index: data.CLOUD_RUN_TASK_INDEX, count: data.CLOUD_RUN_TASK_COUNT, execution: data.CLOUD_RUN_EXECUTION };
}

/** Milliseconds for all tasks to start: what waits is billed, and a quota may keep some of them from starting at all. */
const START_MS = 5 * 60_000;
/** Milliseconds without any sign of another task: a container that is started again takes minutes. */
const PATIENCE_MS = 15 * 60_000;

/**
 * Reads which task of an import this process is.
 * @returns undefined for the only task
 * @throws UsageError where tasks cannot divide the import: all must read the same bytes, and write to the same database
 */
export function readImportTask(
  { environment }: Pick<Surroundings, 'environment'>,
  source: Place,
  target: DatabasePlace,
  { onConflict, dryRun }: ImportOptions,
): ImportTask | undefined {
  const { index, count, execution } = readTask(environment);
  if (count === 1) return undefined;
  if (source.takes !== 'files' || source.name === '-' || !target.name.startsWith('firestore:'))
    throw new UsageError('CLOUD_RUN_TASK_COUNT above 1 needs a file or an object as source, and firestore: as target');
  if (onConflict === 'overwrite' || dryRun)
    throw new UsageError('CLOUD_RUN_TASK_COUNT above 1 excludes --on-conflict overwrite and --dry-run: use one task');
  return { index, count, execution, startMs: START_MS, patienceMs: PATIENCE_MS };
}
