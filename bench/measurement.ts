import { run, taskSchema } from './measurements.ts';

// The program that a measurement is: its argument is the task, its output one line of JSON.
const task = taskSchema.parse(JSON.parse(process.argv[2] ?? ''));
const measured = await run(task);
if (measured.users !== task.users) throw new Error(`${task.name}: ${measured.users} users instead of ${task.users}`);
const peakMegabytes = process.resourceUsage().maxRSS / 1024;
process.stdout.write(`${JSON.stringify({ ...measured, peakMegabytes })}\n`);
