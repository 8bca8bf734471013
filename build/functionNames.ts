import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../test/support/program.ts';

/** The names of all functions: each has a folder of its name in `functions/`, and registers itself under it. */
export async function functionNames(): Promise<string[]> {
  const entries = await readdir(join(root, 'functions'), { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}
