import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import packageFile from '../../package.json' with { type: 'json' };
import { type Result, resultSchema } from './process.ts';
import type { Task } from './task.ts';

/** The heap options under which `npm run identity` runs the product. */
export const heapOptions: readonly string[] = packageFile.scripts.identity
  .split(' ')
  .filter((word) => word.startsWith('--max-'));

/**
 * Runs a task in a process of its own, so that the peak memory is its own.
 * @throws Error with the process's output, if it fails
 */
export async function runTask(task: Task): Promise<Result> {
  const program = join(import.meta.dirname, 'main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [...heapOptions, program, JSON.stringify(task)]);
  return resultSchema.parse(JSON.parse(stdout));
}
