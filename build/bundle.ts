import { isBuiltin } from 'node:module';
import { build, type Metafile } from 'esbuild';
import { root } from '../test/support/program.ts';

/** A function and everything that it loads, as one CommonJS file. */
export interface Bundle {
  readonly code: Uint8Array;
  /** The files that something of it comes from, relative to the repository. */
  readonly inputs: readonly string[];
}

/**
 * Packages that a function loads from beside it. A bundled copy of the framework would have a registry of its own, in
 * which the framework that was started finds no function (docs/decisions/0001-function-shell.md).
 */
export const unbundled: readonly string[] = ['@google-cloud/functions-framework'];

/** Packages that ours look for, and do without. */
const dispensable: readonly string[] = ['supports-color'];

/**
 * Bundles one function for a major version of Node. CommonJS, since google-gax needs `__dirname`. Names and line breaks
 * stay: shorter ones do not load faster, and the stacks in the log would tell nothing.
 * @throws Error when it would load a package that is not deployed
 */
export async function bundle(name: string, nodeMajor: number): Promise<Bundle> {
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
    external: [...unbundled],
    legalComments: 'eof',
    logLevel: 'warning',
  });
  const [file] = outputFiles;
  const output = metafile.outputs['index.js'];
  if (file === undefined || output === undefined) throw new Error(`esbuild made no index.js for ${name}`);
  refuseMissing(name, output);
  return { code: file.contents, inputs: inputsOf(output) };
}

function inputsOf({ inputs }: Metafile['outputs'][string]): string[] {
  return Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));
}

function refuseMissing(name: string, { imports }: Metafile['outputs'][string]): void {
  const there = (path: string) => isBuiltin(path) || unbundled.includes(path) || dispensable.includes(path);
  const missing = imports.flatMap(({ path }) => (there(path) ? [] : [path]));
  if (missing.length > 0) throw new Error(`${name} would load what is not deployed: ${missing.join(', ')}`);
}
