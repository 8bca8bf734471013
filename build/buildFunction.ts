import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { archive } from './archive.ts';
import { bundle } from './bundle.ts';
import { deployedPackage, nodeMajorOf } from './deployedPackage.ts';
import type { LockFile } from './lockFile.ts';

/** A function as it is deployed. */
export interface BuiltFunction {
  readonly name: string;
  /** Holds `index.js`, `package.json`, `package-lock.json`, and nothing else. */
  readonly directory: string;
  /** A zip archive of the directory's files. */
  readonly archive: string;
  /** What is in it: files of the repository. */
  readonly inputs: readonly string[];
  /** Sizes in bytes. */
  readonly codeBytes: number;
  readonly archiveBytes: number;
}

/** Makes `<output>/<name>/` and `<output>/<name>.zip`; neither may be there. */
export async function buildFunction(name: string, lock: LockFile, output: string): Promise<BuiltFunction> {
  const { code, inputs } = await bundle(name, nodeMajorOf(lock));
  const texts = Object.entries(deployedPackage(lock)).map(([file, text]) => [file, Buffer.from(text)] as const);
  const files = { 'index.js': code, ...Object.fromEntries(texts) };
  const zip = archive(files);
  const directory = join(output, name);
  await mkdir(directory, { recursive: true });
  for (const [file, content] of Object.entries(files)) await writeFile(join(directory, file), content, { flag: 'wx' });
  await writeFile(`${directory}.zip`, zip, { flag: 'wx' });
  return { name, directory, archive: `${directory}.zip`, inputs, codeBytes: code.length, archiveBytes: zip.length };
}
