import { rm, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { functions } from '../../functions/endpoints.ts';
import { root, run } from '../program.ts';
import { buildFunction } from './buildFunction.ts';
import { coldStart } from './coldStart.ts';
import { nodeMajor, readLockFile } from './deployedPackage.ts';

// The program of `npm run build`. Builds the archive of each function, and measures its cold start.

const MEGABYTE = 1e6;
const output = join(root, 'dist');
const lock = await readLockFile();
await rm(output, { recursive: true, force: true });
print(`for the runtime nodejs${nodeMajor(lock)}\n`);
print(line(['archive', 'bundled MB', 'zipped MB', 'cold start ms']));
const checksums: string[] = [];
for (const name of Object.keys(functions)) {
  const built = await buildFunction(name, lock, output);
  const time = await coldStart(built.directory);
  print(
    line([relative(root, built.archive), megabytes(built.codeBytes), megabytes(built.archiveBytes), time.toFixed(0)]),
  );
  checksums.push(`${built.sha256}  ${basename(built.archive)}\n`);
}
await writeFile(join(output, 'SHA256SUMS'), checksums.join(''));
await writeFile(join(output, 'sbom.cdx.json'), await billOfMaterials());
print(`\nSHA-256 of the archives, the same on every machine:\n\n${checksums.join('')}`);

async function billOfMaterials(): Promise<string> {
  const { code, stdout, stderr } = await run('npm', ['sbom', '--omit=dev', '--sbom-format=cyclonedx'], { cwd: root });
  if (code !== 0) throw new Error(`npm sbom failed: ${stderr}`);
  return stdout;
}

function line([archive = '', ...figures]: readonly string[]): string {
  return archive.padEnd(24) + figures.map((figure) => figure.padStart(14)).join('');
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
