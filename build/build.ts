import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { functions } from '../functions/endpoints.ts';
import { root } from '../tools/program.ts';
import { buildFunction } from './buildFunction.ts';
import { coldStart } from './coldStart.ts';
import { nodeMajor, readLockFile } from './deployedPackage.ts';

// The program behind `npm run build`: creates each function's archive, and measures its cold start.

const output = join(root, 'dist');
const lock = await readLockFile();
await rm(output, { recursive: true, force: true });
print(`for the runtime nodejs${nodeMajor(lock)}\n`);
print(line(['archive', 'bundled MB', 'zipped MB', 'cold start ms']));
for (const name of Object.keys(functions)) {
  const built = await buildFunction(name, lock, output);
  const time = await coldStart(built.directory);
  print(
    line([relative(root, built.archive), megabytes(built.codeBytes), megabytes(built.archiveBytes), time.toFixed(0)]),
  );
}

function line([archive = '', ...figures]: readonly string[]): string {
  return archive.padEnd(24) + figures.map((figure) => figure.padStart(14)).join('');
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
