import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../../tools/program.ts';
import { copyConfiguration } from '../configurationCopy.ts';
import type { Mutation } from './table.ts';

/** The tests that compare the configuration with the code and the documents. */
const VITEST = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--project',
  'terraform',
  '--exclude',
  '**/{terraform,examples}.test.ts',
];

/** What noticed a mistake. */
export type Witness = 'a test of the code' | 'a test of Terraform';

/**
 * Runs the tests of a directory of the configuration on a copy, after a mutation if one is given.
 * @returns what noticed it; undefined if nothing did
 * @throws Error if the mutation does not apply, or if the configuration is not valid: then it proves nothing
 */
export async function findWitness(directory: string, mutation?: Mutation): Promise<Witness | undefined> {
  await using copy = await copyConfiguration();
  if (mutation !== undefined) await replaceOnce(join(copy.directory, mutation.file), mutation.from, mutation.to);
  const { code } = await run(process.execPath, ['run.cjs', ...VITEST], {
    env: { TERRAFORM_DIRECTORY: copy.directory },
  });
  if (code !== 0) return 'a test of the code';
  const { failed, output } = await copy.check(directory);
  if (failed.length === 0) return undefined;
  if (failed.every((step) => step === 'test')) return 'a test of Terraform';
  throw new Error(`the configuration is not valid, so that nothing can be said of its tests:\n${output}`);
}

async function replaceOnce(path: string, from: string, to: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`${path} has the text ${parts.length - 1} times, not once: ${from}`);
  await writeFile(path, parts.join(to));
}
