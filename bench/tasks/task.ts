import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import packageFile from '../../package.json' with { type: 'json' };
import { root } from '../../tools/program.ts';

/** The schema of a task: its kind, the number of users it must process, its export file and its database. */
export const taskSchema = z.object({
  name: z.enum([
    'read',
    'inspect',
    'import',
    'import again',
    'export with secrets',
    'export without secrets',
    'raw write',
    'raw read',
  ]),
  users: z.int().positive(),
  file: z.string(),
  location: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('sqlite'), directory: z.string() }),
    z.object({ kind: z.literal('firestore'), projectId: z.string(), databaseId: z.string(), masterKey: z.string() }),
  ]),
});

/** A task to run and measure. */
export type Task = z.infer<typeof taskSchema>;

/** The database that a task works on. */
export type Location = Task['location'];

/** The heap options under which `npm run identity` runs the product. */
export const heapOptions: readonly string[] = packageFile.scripts.identity
  .split(' ')
  .filter((word) => word.startsWith('--max-'));

/**
 * Runs a task in a process of its own, so that the peak memory is its own.
 * @param tree the files of the version that does it; by default this one's
 * @throws Error with the process's output, if it fails
 */
export async function runTask(task: Task, tree: string = root): Promise<Result> {
  const program = join(tree, 'bench/tasks/main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [...heapOptions, program, JSON.stringify(task)]);
  return resultSchema.parse(JSON.parse(stdout));
}

/** The cost of processing users. `time` and `cpu` are milliseconds; `cpu` is that of all threads of the process. */
export interface Measured {
  readonly users: number;
  readonly time: number;
  readonly cpu: number;
  /** The documents that a store has read and written. */
  readonly documents?: { readonly read: number; readonly written: number };
}

/** Measures `work`, which returns the number of processed users. */
export async function measure(work: () => number | Promise<number>): Promise<Measured> {
  const begin = performance.now();
  const before = process.cpuUsage();
  const users = await work();
  const { user, system } = process.cpuUsage(before);
  return { users, time: performance.now() - begin, cpu: (user + system) / 1_000 };
}

const resultSchema = z.object({
  users: z.number(),
  time: z.number(),
  cpu: z.number(),
  peakMegabytes: z.number(),
  writtenBytes: z.number().optional(),
  documents: z.object({ read: z.number(), written: z.number() }).optional(),
});

/** The result of a task; `peakMegabytes` is the peak memory of its process, `writtenBytes` what it wrote to disks. */
export type Result = z.infer<typeof resultSchema>;

/** Returns the users that a task processed in a second. */
export function rate({ users, time }: Result): number {
  return (users / time) * 1_000;
}

/** Returns the microseconds of all processors' time for each user. */
export function cpuPerUser({ users, cpu }: Result): number {
  return (cpu / users) * 1_000;
}
