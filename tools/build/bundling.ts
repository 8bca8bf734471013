import { type BuildOptions, build, type Metafile } from 'esbuild';
import { root } from '../program.ts';
import { replaceModules } from './replacedModules.ts';

/** Packages that dependencies load only if they are installed. Bundles omit them, even if development installs them. */
export const optionalPackages: readonly string[] = ['supports-color'];

/**
 * Returns the options of every bundle. Keeps names and line breaks, because minified code does not load faster and
 * makes stack traces unreadable.
 */
export function bundleOptions(nodeMajor: number) {
  return {
    absWorkingDir: root,
    write: false,
    metafile: true,
    bundle: true,
    platform: 'node',
    minifySyntax: true,
    external: [...optionalPackages],
    target: `node${nodeMajor}`,
    plugins: [replaceModules],
    logLevel: 'warning',
  } as const satisfies BuildOptions;
}

/** Bundles a program as one CommonJS file. */
export async function bundleScript(
  entryPoint: string,
  nodeMajor: number,
  options: Pick<BuildOptions, 'define' | 'external' | 'plugins'> = {},
) {
  const { outputFiles, metafile } = await build({
    ...bundleOptions(nodeMajor),
    entryPoints: [entryPoint],
    outfile: 'index.js',
    // Use CommonJS, because google-gax needs `__dirname`.
    format: 'cjs',
    legalComments: 'eof',
    // Silence this warning: `import.meta` has no URL in CommonJS, but `define` removes the only branch that uses it.
    logOverride: { 'empty-import-meta': 'silent' },
    ...options,
    external: [...optionalPackages, ...(options.external ?? [])],
    plugins: [replaceModules, ...(options.plugins ?? [])],
  });
  const [file] = outputFiles;
  const output = metafile.outputs['index.js'];
  if (file === undefined || output === undefined) throw new Error(`esbuild created no index.js for ${entryPoint}`);
  return { contents: Buffer.from(escaped(file.text)), output };
}

/**
 * Escapes characters outside ASCII in comments and regular expressions; esbuild has escaped all others. A single such
 * character doubles the memory of the program's text and slows down the start.
 */
function escaped(program: string): string {
  return program.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * The program of a worker thread, and the module that starts it. A bundle contains the program as text, not as a file.
 */
const worker = { program: 'shared/auth/bcryptWorker.ts', starter: 'shared/auth/passwordHashing.ts' } as const;

/** The program of the worker threads in a bundle. */
interface BundledWorker {
  /** The values for esbuild's `define` in the module that starts the threads. */
  readonly define: Readonly<Record<string, string>>;
  readonly output: Metafile['outputs'][string];
  /** Lists the files of a bundle. Adds the files of the worker's program if the bundle starts the worker. */
  files(bundled: readonly string[]): readonly string[];
}

/** Bundles the program of the worker threads. */
export async function bundleWorker(nodeMajor: number): Promise<BundledWorker> {
  const { contents, output } = await bundleScript(worker.program, nodeMajor);
  return {
    define: { BCRYPT_WORKER: JSON.stringify(Buffer.from(contents).toString()) },
    output,
    files: (bundled) => (bundled.includes(worker.starter) ? [...bundled, ...bundledFiles(output)] : bundled),
  };
}

/** Lists the files that contribute code to an output, relative to the repository. */
export function bundledFiles({ inputs }: Metafile['outputs'][string]): string[] {
  return Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));
}
