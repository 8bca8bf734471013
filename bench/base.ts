import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { root, run } from '../tools/program.ts';
import type { BenchContext } from './context.ts';

/** The version beside which this one is measured: the one before the last work on speed; from the first release on, that. */
export const BASE = 'dfca7438';

let prepared: ReturnType<typeof unpackBase> | undefined;

/** Returns the directory of the base's files, which goes away after the run, or the reason why it cannot be had. */
export function baseTree(bench: BenchContext): Promise<string | { readonly missing: string }> {
  prepared ??= unpackBase(bench);
  return prepared;
}

async function unpackBase(bench: BenchContext): Promise<string | { readonly missing: string }> {
  const directory = bench.path('base');
  const archive = `${directory}.tar`;
  const { code, stderr } = await run('git', ['archive', `--prefix=base/`, `--output=${archive}`, BASE]);
  if (code !== 0) return { missing: `git has no commit ${BASE}: ${stderr.trim()}` };
  await call('tar', ['-xf', archive, '-C', bench.path('.')]);
  const [own, other] = await Promise.all([root, directory].map((tree) => readFile(join(tree, 'package-lock.json'))));
  // Installing takes longer than measuring, and most versions have the same packages.
  if (own !== undefined && other !== undefined && own.equals(other))
    await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
  else await call('npm', ['ci', '--prefix', directory]);
  return directory;
}

async function call(command: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await run(command, args);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${stderr}`);
}
