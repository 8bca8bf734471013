import { readFile } from 'node:fs/promises';
import { unzipSync } from 'fflate';
import { functions } from '../../../functions/endpoints.ts';
import { type BuiltFunction, buildFunction } from '../../../tools/build/buildFunction.ts';
import { readLockFile } from '../../../tools/build/deployedPackage.ts';

/** Builds all functions into a directory. */
export async function buildAll(output: string): Promise<BuiltFunction[]> {
  const lock = await readLockFile();
  const names = Object.keys(functions);
  return Promise.all(names.map((name) => buildFunction(name, lock, output)));
}

/** Returns the files in a function's archive. */
export async function unpack({ archive }: BuiltFunction): Promise<Record<string, Uint8Array>> {
  return unzipSync(await readFile(archive));
}
