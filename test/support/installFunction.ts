import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuiltFunction } from '../../build/buildFunction.ts';
import { unpack } from './builtFunctions.ts';
import { run } from './program.ts';

/**
 * Does with an archive what Cloud Build does, in `<parent>/<name>`, which it returns: unpacks it and installs what the lock
 * file names, for production. `parent` lies outside the repository, so that nothing of its `node_modules` is found.
 */
export async function installFunction(built: BuiltFunction, parent: string): Promise<string> {
  const directory = join(parent, built.name);
  await mkdir(directory, { recursive: true });
  for (const [file, content] of Object.entries(await unpack(built))) await writeFile(join(directory, file), content);
  const options = ['--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'];
  const { code, stderr } = await run('npm', ['ci', ...options], { cwd: directory });
  if (code !== 0) throw new Error(`npm ci in ${directory} ended with ${code}: ${stderr}`);
  return directory;
}
