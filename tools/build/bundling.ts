import { type BuildOptions, build, type Metafile } from 'esbuild';
import { root } from '../program.ts';
import { replaceModules } from './replacedModules.ts';

/**
 * Packages that dependencies load only if they are installed. Bundles omit them, although they may be installed during
 * development.
 */
export const optionalPackages: readonly string[] = ['supports-color'];

/**
 * Returns the options of all bundles. They keep names and line breaks: minified code does not load faster, and its
 * stack traces are unreadable.
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

export async function bundleScript(
  entryPoint: string,
  nodeMajor: number,
  options: Pick<BuildOptions, 'define' | 'external' | 'plugins'> = {},
) {
  const { outputFiles, metafile } = await build({
    ...bundleOptions(nodeMajor),
    entryPoints: [entryPoint],
    outfile: 'index.js',
    // CommonJS, because google-gax needs `__dirname`.
    format: 'cjs',
    legalComments: 'eof',
    // Ignore esbuild's warning about `import.meta`: in CommonJS `import.meta` has no URL, but `define` removes the only
    // code that uses the URL.
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
 * Escapes the characters outside ASCII that esbuild leaves in comments and regular expressions. A single such character
 * would double the memory of the bundle's text, and slow down the start.
 */
function escaped(program: string): string {
  return program.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * `program` is the source file of the worker thread that hashes passwords; `starter` is the module that starts this
 * thread. In a bundle, `starter` contains the bundled `program` as a text.
 */
const worker = { program: 'shared/auth/bcryptWorker.ts', starter: 'shared/auth/passwordHashing.ts' } as const;

interface BundledWorker {
  /** The values for esbuild's option `define`, by which the module `worker.starter` receives the program's text. */
  readonly define: Readonly<Record<string, string>>;
  readonly output: Metafile['outputs'][string];
  /**
   * Returns the source files of a bundle. If the bundle contains `worker.starter`, adds the source files of the
   * worker's program.
   */
  files(bundled: readonly string[]): readonly string[];
}

export async function bundleWorker(nodeMajor: number): Promise<BundledWorker> {
  const { contents, output } = await bundleScript(worker.program, nodeMajor);
  return {
    define: { BCRYPT_WORKER: JSON.stringify(Buffer.from(contents).toString()) },
    output,
    files: (bundled) => (bundled.includes(worker.starter) ? [...bundled, ...bundledFiles(output)] : bundled),
  };
}

export function bundledFiles({ inputs }: Metafile['outputs'][string]): string[] {
  return Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));
}
