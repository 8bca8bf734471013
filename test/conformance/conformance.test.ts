import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { root, run } from '../../tools/program.ts';
import { describeDeployment, type Instance } from '../support/instances/deployments.ts';
import { expiredToken, newToken } from '../support/instances/tokens.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { judgements } from './judgements/judgements.ts';
import { prepare } from './prepare.ts';
import { recordings } from './recordings.ts';
import type { Row } from './row.ts';
import { rows } from './rows.ts';
import { runRow, type Target, type Tokens } from './runRow.ts';
import { callers, newSubjects } from './subjects.ts';

describe('the table of conformance', () => {
  it('judges each recorded answer of ZITADEL, and nothing else', () => {
    expect([...judgements.keys()].sort()).toEqual(recordings.map(({ name }) => name).sort());
    expect(recordings.filter(({ file }) => file === 'errors.json')).toHaveLength(148);
  });

  it('has no two rows of the same name', () => {
    const names = rows(newSubjects()).map(({ name, origin }) => `${origin} ${name}`);
    expect(names).toHaveLength(new Set(names).size);
  });

  it('says in a sentence why an answer is another than ZITADEL’s, or why a row cannot be run', () => {
    const reasons = rows(newSubjects()).flatMap(({ decision, setup }) => decision ?? setup ?? []);
    for (const reason of reasons) expect(reason).toMatch(/^[A-Z].{30,}\.$/);
  });
});

describeDeployment('conformance', (get) => {
  const subjects = newSubjects();
  let target: Target | undefined;
  beforeAll(async () => {
    const { url, token } = get().target;
    const spent = await prepare(url, token, subjects);
    target = { baseUrl: url, tokens: await tokensOf(get().target), spent };
  });

  for (const row of rows(subjects)) {
    it(title(row), async ({ skip }) => {
      if (target === undefined) throw new Error('the table is prepared before its rows run');
      const outcome = await runRow(row, target);
      if (outcome.kind === 'not run') skip(outcome.why);
      expect('differences' in outcome ? outcome.differences : []).toEqual([]);
    });
  }

  it('lists the organisations that it leaves', async () => {
    const { url, token } = get().target;
    const { code, stdout } = await conformance(url, token, '--only', 'an enum is taken by its name');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Left 3 organisations that the run created, since the server has no request .*:\n {2}conformance-home\n {2}other-\S+\n {2}an-enum-\S+\n1 rows: 1 passed/m,
    );
  });
});

describe('npm run conformance', () => {
  it('ends with 1 and names the rows that failed, where a server answers otherwise', async () => {
    await using resources = new AsyncDisposableStack();
    const server = createServer((request, response) => request.resume().on('end', () => response.end('{}')));
    resources.defer(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the system gave no port');
    const { code, stdout } = await conformance(`http://127.0.0.1:${address.port}`, 'any');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAILED {3}errors.json +export: no Authorization\n +POST \/admin\/v1\/export: status 200/m);
    expect(stdout).toMatch(/^not run {2}errors.json +export: no membership\n +there is no token of the role nobody$/m);
    expect(stdout).toMatch(/\d+ rows: \d+ passed, 0 differ by decision, \d+ failed, \d+ not run\n$/);
  });

  it('ends with 1 and says how it is used, where it is not told what to run on', async () => {
    const { code, stderr } = await run(process.execPath, [script]);
    expect(code).toBe(1);
    expect(stderr).toContain('--base-url URL --token-file FILE');
  });

  it('names the option that is wrong', async () => {
    const stderrOf = async (...options: readonly string[]) =>
      (await conformance('http://127.0.0.1:1', 'any', ...options)).stderr;
    expect(await stderrOf('--reference', 'keycloak')).toBe(
      '--reference: unknown reference "keycloak": use ours or zitadel\n',
    );
    expect(await stderrOf('--settle', 'soon')).toBe('--settle: must be a number of seconds\n');
    expect(await stderrOf('--only', '(')).toMatch(/^--only: must be a regular expression: /);
    expect(await stderrOf('--colour')).toContain("Unknown option '--colour'");
  });

  it('prints its options and exit codes', async () => {
    const { code, stdout } = await run(process.execPath, [script, '--help']);
    expect(code).toBe(0);
    for (const option of ['--reference', '--junit', '--only', '--skip', '--settle', '--restart']) {
      expect(stdout).toContain(option);
    }
    expect(stdout).toMatch(/Exit codes:\n {2}0 .*\n {2}1 .*\n {2}130 /);
  });
});

const script = join(root, 'test', 'conformance', 'run.ts');

async function conformance(url: string, token: string, ...options: readonly string[]) {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const tokenFile = join(directory.path, 'token');
  await writeFile(tokenFile, token);
  return run(process.execPath, [script, '--base-url', url, '--token-file', tokenFile, ...options]);
}

function title({ name, origin, decision }: Row): string {
  return `${origin}: ${name}${decision === undefined ? '' : ` (differs: ${decision})`}`;
}

/** Tokens of all roles, where the `identity` command can make them. */
async function tokensOf({ token, database }: Instance): Promise<Tokens> {
  if (database === undefined) return { owner: token };
  const of = async (userId: string) => (await newToken(database, userId)).token;
  return {
    owner: token,
    orgOwner: await of(callers.orgOwner),
    viewer: await of(callers.viewer),
    nobody: await of(callers.nobody),
    person: await of(callers.person),
    inactive: await of(callers.inactive),
    expired: (await expiredToken(database, callers.expired)).token,
  };
}
