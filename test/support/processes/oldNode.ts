import { execFileSync } from 'node:child_process';
import { delimiter, join } from 'node:path';

/** Lists the installed versions of Node except the locked version. */
function systemNodes(): readonly (readonly [path: string, version: string])[] {
  const directories = (process.env.PATH ?? '').split(delimiter).filter((path) => !path.includes('node_modules'));
  return directories.flatMap((directory) => {
    const path = join(directory, 'node');
    try {
      return [[path, execFileSync(path, ['--print', 'process.versions.node'], { encoding: 'utf8' }).trim()]];
    } catch {
      return [];
    }
  });
}

/** Finds a version of Node that is older than the required version. Prints a message if there is none. */
export function oldNode(): readonly [path: string, version: string] | undefined {
  const found = systemNodes().find(([, version]) => Number.parseInt(version, 10) < 24);
  if (found === undefined) process.stdout.write('skipped: no Node older than 24 is on the PATH\n');
  return found;
}
