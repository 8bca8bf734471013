import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from '../../tools/program.ts';

/** The program that checks directories of a configuration without a registry. */
export const CHECK = join(root, 'test/fixtures/terraform-providers/check');

/** The exit code of a check that could not run at all. */
export const COULD_NOT_RUN = 2;

/** The result of a check. */
interface Checked {
  /** The steps that failed, such as `test`. */
  readonly failed: readonly string[];
  readonly output: string;
}

/** A copy of the configuration that can be changed. */
export interface ConfigurationCopy extends AsyncDisposable {
  readonly directory: string;
  /**
   * Checks a directory of the configuration with its own tests. In the root module, `.`, does not run the tests of the
   * other modules.
   * @throws Error if the check cannot run
   */
  check(directory: string): Promise<Checked>;
}

/** What `terraform init` writes. A lock file has the checksums of other providers. */
const WRITTEN_BY_INIT = /\/\.terraform(\.lock\.hcl)?$/;

/** Copies the configuration, and what it reads next to it. */
export async function copyConfiguration(): Promise<ConfigurationCopy> {
  const copy = await mkdtemp(join(tmpdir(), 'identity-terraform-'));
  const directory = join(copy, 'terraform');
  const filter = (path: string) => !WRITTEN_BY_INIT.test(path);
  await cp(join(root, 'terraform'), directory, { recursive: true, filter });
  for (const file of ['firestore.rules', 'firestore.indexes.json']) await cp(join(root, file), join(copy, file));
  // The check looks for the top of the repository, so that paths out of a module stay valid.
  const { code, stderr } = await run('git', ['init', '--quiet', copy]);
  if (code !== 0) throw new Error(`git init failed: ${stderr}`);
  return {
    directory,
    check: (checked) => checkConfiguration(directory, checked),
    [Symbol.asyncDispose]: () => rm(copy, { recursive: true, force: true }),
  };
}

async function checkConfiguration(configuration: string, directory: string): Promise<Checked> {
  if (directory === '.') await removeOtherTests(configuration);
  const { code, stdout, stderr } = await run(CHECK, [join(configuration, directory)]);
  const output = `${stdout}${stderr}`;
  if (code === null || code === COULD_NOT_RUN) throw new Error(`the check could not run:\n${output}`);
  return { failed: [...stdout.matchAll(/^FAIL +(\w+)/gm)].map(([, step = '']) => step), output };
}

async function removeOtherTests(configuration: string): Promise<void> {
  const others = ['examples', 'modules/edge/tests'];
  for (const other of others) await rm(join(configuration, other), { recursive: true, force: true });
}
