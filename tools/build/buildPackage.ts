import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import packageJson from '../../package.json' with { type: 'json' };
import { packageFiles } from '../../shared/http/docsPage.ts';
import { root, run } from '../program.ts';
import { bundledFiles, bundleOptions, bundleWorker, optionalPackages } from './bundling.ts';
import { type LockFile, nodeMajor, toJson } from './deployedPackage.ts';
import { thirdPartyNotice } from './thirdParty.ts';

/** The name of the installable package. Another package already has the name `identity`. */
export const packageName = '@identity-service/cli';

interface BuiltPackage {
  readonly directory: string;
  readonly inputs: readonly string[];
  readonly codeBytes: number;
}

const SWAGGER_UI = 'swagger-ui';
const swaggerUi = packageFiles.map(({ name }) => join('node_modules', 'swagger-ui-dist', name));

/**
 * The files that the package contains unchanged. The key is the path in the repository, the value the path in the
 * package.
 */
const copies = {
  'tools/run.cjs': 'tools/run.cjs',
  'cli/bin.cjs': 'cli/bin.cjs',
  LICENSE: 'LICENSE',
  'CHANGELOG.md': 'CHANGELOG.md',
};

/**
 * Builds the package of the command and its server. The package consists of bundles without dependencies, so npm only
 * has to unpack it.
 * @param directory the directory for the package; an existing directory is replaced
 * @throws Error if a bundle loads a package
 */
export async function buildPackage(lock: LockFile, directory: string): Promise<BuiltPackage> {
  const { files, inputs } = await bundle(lock);
  const allInputs = [...inputs, ...swaggerUi];
  await rm(directory, { recursive: true, force: true });
  await mkdir(join(directory, 'cli', SWAGGER_UI), { recursive: true });
  await mkdir(join(directory, 'tools'));
  for (const { path, contents } of files) await writeFile(join(directory, 'cli', basename(path)), contents);
  for (const file of swaggerUi) await copyFile(join(root, file), join(directory, 'cli', SWAGGER_UI, basename(file)));
  for (const [from, to] of Object.entries(copies)) await copyFile(join(root, from), join(directory, to));
  await chmod(join(directory, 'cli', 'bin.cjs'), 0o755);
  await copyFile(join(root, 'tools', 'build', 'packageReadme.md'), join(directory, 'README.md'));
  await writeFile(join(directory, 'THIRD-PARTY-NOTICES.txt'), await thirdPartyNotice(allInputs, lock));
  await writeFile(join(directory, 'package.json'), toJson(manifest()));
  return { directory, inputs: allInputs, codeBytes: files.reduce((sum, { contents }) => sum + contents.length, 0) };
}

function manifest(): object {
  const { version, description, license, engines } = packageJson;
  return {
    name: packageName,
    version,
    description,
    license,
    type: 'module',
    engines,
    bin: { identity: 'cli/bin.cjs' },
  };
}

// Defines the globals that CommonJS modules use and ES modules lack.
const banner = `import { createRequire as createRequireHere } from 'node:module';
const require = createRequireHere(import.meta.url), { filename: __filename, dirname: __dirname } = import.meta;`;

/**
 * Returns the commit of the source files, with a suffix if the files differ from the commit. Returns undefined outside
 * a clone.
 */
async function sourceCommit(): Promise<string | undefined> {
  const env = { GIT_CEILING_DIRECTORIES: dirname(root) };
  const describe = ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'];
  // `run` rejects if git is not installed.
  const ended = await run('git', describe, { env }).catch(() => undefined);
  return ended?.code === 0 ? ended.stdout.trim() : undefined;
}

async function bundle(lock: LockFile) {
  const major = nodeMajor(lock);
  const worker = await bundleWorker(major);
  const commit = await sourceCommit();
  const options = {
    ...bundleOptions(major),
    entryPoints: ['cli/identity.ts'],
    outdir: 'package',
    format: 'esm',
    splitting: true,
    legalComments: 'eof',
    banner: { js: banner },
    define: {
      ...worker.define,
      SWAGGER_UI: JSON.stringify(`./${SWAGGER_UI}/`),
      ...(commit !== undefined ? { COMMIT: JSON.stringify(commit) } : {}),
    },
  } as const satisfies BuildOptions;
  const { outputFiles, metafile } = await build(options);
  const outputs = Object.values(metafile.outputs);
  const external = outputs.flatMap(({ imports }) =>
    imports.flatMap((imported) => (imported.external === true ? imported.path : [])),
  );
  const missing = external.filter((path) => !isBuiltin(path) && !optionalPackages.includes(path));
  if (missing.length > 0) throw new Error(`the command loads packages that are not bundled: ${missing.join(', ')}`);
  return { files: outputFiles, inputs: worker.files([...new Set(outputs.flatMap(bundledFiles))].sort()) };
}
