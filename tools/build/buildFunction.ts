import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import type { Metafile } from 'esbuild';
import { zipSync } from 'fflate';
import { functions } from '../../functions/endpoints.ts';
import { root } from '../program.ts';
import { bundledFiles, bundleScript, bundleWorker, optionalPackages } from './bundling.ts';
import { COMPILER, deployedPackage, type LockFile, nodeMajor, unbundled } from './deployedPackage.ts';
import { selectOrganisationMessages } from './organisationMessages.ts';
import { thirdPartyNotice } from './thirdParty.ts';

export interface BuiltFunction {
  readonly name: string;
  /** The directory with `index.js`, the files that install its packages, and the program that compiles the function. */
  readonly directory: string;
  readonly archive: string;
  /** The source files of the bundle, relative to the repository. */
  readonly inputs: readonly string[];
  readonly codeBytes: number;
  readonly archiveBytes: number;
  /** SHA-256 of the archive, in hexadecimal. */
  readonly sha256: string;
}

/**
 * Builds a function: creates `<output>/<name>/` and `<output>/<name>.zip`.
 * @throws Error if the archive, or one of the files in the directory, already exists
 */
export async function buildFunction(name: string, lock: LockFile, output: string): Promise<BuiltFunction> {
  const { code, inputs } = await bundle(name, nodeMajor(lock));
  const texts = {
    ...deployedPackage(name, lock),
    [COMPILER]: await readFile(join(import.meta.dirname, COMPILER), 'utf8'),
    'THIRD-PARTY-NOTICES.txt': await thirdPartyNotice(inputs, lock),
  };
  const encoded = Object.entries(texts).map(([file, text]) => [file, Buffer.from(text)] as const);
  const files = { 'index.js': code, ...Object.fromEntries(encoded) };
  const zip = archive(files);
  const directory = join(output, name);
  await mkdir(directory, { recursive: true });
  for (const [file, content] of Object.entries(files)) await writeFile(join(directory, file), content, { flag: 'wx' });
  await writeFile(`${directory}.zip`, zip, { flag: 'wx' });
  return {
    name,
    directory,
    archive: `${directory}.zip`,
    inputs,
    codeBytes: code.length,
    archiveBytes: zip.length,
    sha256: createHash('sha256').update(zip).digest('hex'),
  };
}

interface Bundle {
  readonly code: Uint8Array;
  readonly inputs: readonly string[];
}

/** @throws Error if the bundle loads a package that is not deployed */
async function bundle(name: string, nodeMajor: number): Promise<Bundle> {
  const worker = await bundleWorker(nodeMajor);
  const { contents, output } = await bundleScript(`functions/${name}/index.ts`, nodeMajor, {
    external: [...unbundled, ...otherApps(name)],
    define: worker.define,
    plugins: [selectOrganisationMessages],
  });
  rejectMissing(name, output);
  rejectMissing(name, worker.output);
  return { code: contents, inputs: worker.files(bundledFiles(output)) };
}

/**
 * Lists the applications of the other functions, which the bundle omits. A function can describe the endpoints of all
 * functions, but serves only its own.
 */
function otherApps(name: string): string[] {
  return Object.keys(functions).flatMap((other) => (other === name ? [] : [join(root, 'functions', other, 'app.ts')]));
}

function rejectMissing(name: string, { imports }: Metafile['outputs'][string]): void {
  const apps = otherApps(name).map((path) => relative(root, path));
  const isDeployed = (path: string) =>
    isBuiltin(path) ||
    unbundled.includes(path) ||
    optionalPackages.includes(path) ||
    apps.some((app) => path.endsWith(app));
  const missing = imports.flatMap(({ path }) => (isDeployed(path) ? [] : [path]));
  if (missing.length > 0) throw new Error(`${name} loads packages that are not deployed: ${missing.join(', ')}`);
}

// All entries of an archive have this date. Dates in zip archives begin in 1980 and have no time zone. On Unix, the
// attributes permit all users to read the files.
const entry = { mtime: new Date(1980, 0, 1), os: 3, attrs: 0o644 << 16 };

/**
 * Creates a zip archive whose bytes depend only on the files, not on the machine. For this reason, all entries have the
 * same date and are sorted by name. A library in JavaScript compresses them, because Node's zlib differs between
 * versions.
 */
export function archive(files: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const sorted = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
  return zipSync(Object.fromEntries(sorted), entry);
}
