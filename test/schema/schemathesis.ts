import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ended, root, run } from '../../tools/program.ts';

const folder = join(root, 'test', 'schema');
const requirements = join(folder, 'requirements.txt');

/** The Python that schemathesis is installed for, or why there is none. */
export type FoundSchemathesis = { readonly python: string } | { readonly missing: string };

/** The instance that is tested, and a bucket that it can write to. */
export interface TestedInstance {
  readonly url: string;
  readonly token: string;
  readonly bucket: string;
  /** Base64 of a key file. */
  readonly key: string;
}

/**
 * Installs schemathesis with its dependencies, in the versions of requirements.txt, into a virtual environment in
 * node_modules/.cache. Python is optional: without it, the tests print the reason and are skipped, also with CI=true.
 */
export async function installSchemathesis(): Promise<FoundSchemathesis> {
  const versions = hash('sha256', await readFile(requirements)).slice(0, 12);
  const home = join(root, 'node_modules', '.cache', `schemathesis-${versions}`);
  if (!existsSync(home)) {
    // Rename the directory when it is complete, so that an interrupted installation is never used.
    const building = `${home}-${process.pid}`;
    const missing = await installInto(building);
    if (missing !== undefined) {
      await rm(building, { recursive: true, force: true });
      process.stderr.write(`skipped: schemathesis cannot be installed: ${missing}\n`);
      return { missing };
    }
    await rename(building, home);
  }
  return { python: join(home, 'bin', 'python') };
}

async function installInto(directory: string): Promise<string | undefined> {
  await mkdir(directory, { recursive: true });
  const noEnvironment = await whyFailed('python3', ['-m', 'venv', directory]);
  if (noEnvironment !== undefined) return noEnvironment;
  const options = ['--quiet', '--disable-pip-version-check', '--requirement', requirements];
  return whyFailed(join(directory, 'bin', 'python'), ['-m', 'pip', 'install', ...options]);
}

async function whyFailed(command: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const { code, stdout, stderr } = await run(command, args);
    return code === 0 ? undefined : (`${stdout}${stderr}`.trim().split('\n').at(-1) ?? `${command} ended with ${code}`);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Tests an instance against its own description, with the settings of schemathesis.toml. Works in `directory`. */
export function runSchemathesis(
  python: string,
  { url, token, bucket, key }: TestedInstance,
  directory: string,
  options: readonly string[] = [],
): Promise<Ended> {
  const config = ['--no-color', '--config-file', join(folder, 'schemathesis.toml')];
  return run(python, ['-m', 'schemathesis.cli', ...config, 'run', `${url}/openapi.json`, ...options], {
    cwd: directory,
    env: {
      IDENTITY_URL: url,
      IDENTITY_TOKEN: token,
      IDENTITY_BUCKET: bucket,
      IDENTITY_KEY: key,
      SCHEMATHESIS_HOOKS: 'hooks',
      PYTHONPATH: folder,
      PYTHONDONTWRITEBYTECODE: '1',
    },
  });
}
