import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { run, type Task, taskSchema } from './measurements.ts';

// The program that a measurement is: its argument is the task, its output one line of JSON.
const task = taskSchema.parse(JSON.parse(process.argv[2] ?? ''));
const measured = await run(task);
if (measured.users !== task.users) throw new Error(`${task.name}: ${measured.users} users instead of ${task.users}`);
const peakMegabytes = process.resourceUsage().maxRSS / 1024;
process.stdout.write(`${JSON.stringify({ ...measured, peakMegabytes })}\n`);

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
