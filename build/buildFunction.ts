import { mkdir, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { zipSync } from 'fflate';
import { functions } from '../functions/endpoints.ts';
import { root } from '../tools/program.ts';
import { deployedPackage, type LockFile, nodeMajor, unbundled } from './deployedPackage.ts';

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
  const { code, inputs } = await bundle(name, nodeMajor(lock));
  const texts = Object.entries(deployedPackage(lock)).map(([file, text]) => [file, Buffer.from(text)] as const);
  const files = { 'index.js': code, ...Object.fromEntries(texts) };
  const zip = archive(files);
  const directory = join(output, name);
  await mkdir(directory, { recursive: true });
  for (const [file, content] of Object.entries(files)) await writeFile(join(directory, file), content, { flag: 'wx' });
  await writeFile(`${directory}.zip`, zip, { flag: 'wx' });
  return { name, directory, archive: `${directory}.zip`, inputs, codeBytes: code.length, archiveBytes: zip.length };
}

/** A function and everything that it loads, as one CommonJS file. */
interface Bundle {
  readonly code: Uint8Array;
  /** The files that something of it comes from, relative to the repository. */
  readonly inputs: readonly string[];
}

/** Packages that ours look for, and do without. */
const dispensable: readonly string[] = ['supports-color'];

/**
 * Bundles one function for a major version of Node. CommonJS, since google-gax needs `__dirname`. Names and line breaks
 * stay: shorter ones do not load faster, and the stacks in the log would tell nothing.
 * @throws Error when it would load a package that is not deployed
 */
async function bundle(name: string, nodeMajor: number): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [`functions/${name}/index.ts`],
    outfile: 'index.js',
    write: false,
    metafile: true,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: `node${nodeMajor}`,
    external: [...unbundled, ...appsBeside(name)],
    legalComments: 'eof',
    logLevel: 'warning',
  });
  const [file] = outputFiles;
  const output = metafile.outputs['index.js'];
  if (file === undefined || output === undefined) throw new Error(`esbuild made no index.js for ${name}`);
  refuseMissing(name, output);
  return { code: file.contents, inputs: bundledFiles(output) };
}

/** The applications of the other functions: a deployed function can describe their endpoints, and never serves them. */
function appsBeside(name: string): string[] {
  return Object.keys(functions).flatMap((other) => (other === name ? [] : [join(root, 'functions', other, 'app.ts')]));
}

function bundledFiles({ inputs }: Metafile['outputs'][string]): string[] {
  return Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));
}

function refuseMissing(name: string, { imports }: Metafile['outputs'][string]): void {
  const beside = appsBeside(name).map((path) => relative(root, path));
  const there = (path: string) =>
    isBuiltin(path) ||
    unbundled.includes(path) ||
    dispensable.includes(path) ||
    beside.some((app) => path.endsWith(app));
  const missing = imports.flatMap(({ path }) => (there(path) ? [] : [path]));
  if (missing.length > 0) throw new Error(`${name} would load what is not deployed: ${missing.join(', ')}`);
}

// The format has local times without a zone, and begins in 1980. Readable for everybody, as Unix writes it.
const entry = { mtime: new Date(1980, 0, 1), os: 3, attrs: 0o644 << 16 };

/**
 * A zip archive, the same bytes for the same files wherever it is made: in the order of names, all of one date, and
 * compressed in JavaScript, since the zlib that is in Node changes with it.
 */
export function archive(files: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const sorted = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
  return zipSync(Object.fromEntries(sorted), entry);
}
