import { chmod, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { root, run } from '../../../tools/program.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

/** Runs the preflight with a `gcloud` that is this shell script. */
async function preflight(script: string, ...args: readonly string[]) {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const gcloud = join(directory.path, 'gcloud');
  await writeFile(gcloud, `#!/bin/sh\n${script}\n`);
  await chmod(gcloud, 0o755);
  const env = { PATH: `${directory.path}${delimiter}${process.env.PATH}` };
  return run(process.execPath, [join(root, 'run.cjs'), 'tools/preflight.ts', ...args], { env, cwd: root });
}

const enforced = 'echo \'{"spec":{"rules":[{"enforce":true}]}}\'';

it.each([
  ['0 where nothing is in the way', 'echo "{}"', ['--project', 'acme-identity'], 0, /^none of \d+ policies/, /^$/],
  ['1 and says what is', enforced, ['--project', 'acme-identity'], 1, /disableServiceAccountKeyCreation forbids/, /^$/],
  [
    '2 and says why a policy cannot be read',
    'echo denied >&2; exit 1',
    ['--project', 'acme-identity'],
    2,
    /^$/,
    /: denied\n$/,
  ],
  ['64 without a project', 'exit 0', [], 64, /^$/, /^name the project/],
  ['64 for an option of gcloud in its place', 'exit 0', ['--project=--help'], 64, /^$/, /^name the project/],
])('npm run preflight ends with %s', async (_, script, args, code, stdout, stderr) => {
  const ended = await preflight(script, ...args);
  expect(ended.code, ended.stderr).toBe(code);
  expect(ended.stdout).toMatch(stdout);
  expect(ended.stderr).toMatch(stderr);
});
