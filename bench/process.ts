import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Task } from './measurement.ts';

/** What some work on users took; times are milliseconds, `cpu` that of all threads of the process. */
export interface Measured {
  readonly users: number;
  readonly time: number;
  readonly cpu: number;
}

/** Runs `work`, which returns how many users it dealt with, and measures it. */
export async function measure(work: () => number | Promise<number>): Promise<Measured> {
  const begin = performance.now();
  const before = process.cpuUsage();
  const users = await work();
  const { user, system } = process.cpuUsage(before);
  return { users, time: performance.now() - begin, cpu: (user + system) / 1_000 };
}

const resultSchema = z.object({ users: z.number(), time: z.number(), cpu: z.number(), peakMegabytes: z.number() });

/** What a measurement has found; `peakMegabytes` is the most memory that its process had. */
export type Result = z.infer<typeof resultSchema>;

// Firestore is used by Cloud Functions. V8 lets garbage lie in proportion to the machine's memory, so the heap is given
// the limit that it has in a function of 1 GB; otherwise what is measured is the memory of the machine.
const nodeOptions = { sqlite: [], firestore: ['--max-old-space-size=512'] };

/** Runs a measurement in a process of its own, so that the memory is its own. */
export async function inOwnProcess(task: Task): Promise<Result> {
  const program = fileURLToPath(new URL('./measurement.ts', import.meta.url));
  const options = nodeOptions[task.location.kind];
  const { stdout } = await promisify(execFile)(process.execPath, [...options, program, JSON.stringify(task)]);
  return resultSchema.parse(JSON.parse(stdout));
}
