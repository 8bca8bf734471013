import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { root, run } from '../../tools/program.ts';
import { describeDeployment } from '../support/instances/deployments.ts';
import { databaseOf, newToken } from '../support/instances/tokens.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { deliberateDifferences, reasonsOf } from './deliberate.ts';
import { type Difference, differences } from './differences.ts';
import { isJsonObject } from './jsonObject.ts';
import { readRecordings } from './recordedCase.ts';
import { releaseDifferences } from './releases.ts';
import { importCallers, type Judged, replay, summary } from './replay.ts';

function toLine({ recorded, verdict, found, error }: Judged): string {
  const line = `${verdict.padEnd(10)} ${recorded.name}`;
  if (verdict === 'documented' && error !== undefined) return `${line}\n             ${error}`;
  if (verdict !== 'differs') return line;
  return [line, ...found.map((difference) => `             ${JSON.stringify(difference)}`)].join('\n');
}

describeDeployment('conformance', (get) => {
  it('each recorded case of a ZITADEL has the listed outcome, and each row of the deliberate differences explains one', async (test) => {
    const { url, token } = get().target;
    const database = databaseOf(get().target, test);
    const owner = { url: new URL(url), tokens: { owner: token }, lagMs: 0 };
    await importCallers(owner);
    const tokenOf = async (name: string) => (await newToken(database, `conformance-${name}`)).token;
    const tokens = {
      owner: token,
      orgOwner: await tokenOf('org-owner'),
      viewer: await tokenOf('viewer'),
      nobody: await tokenOf('nobody'),
    };
    const judged = await replay({ ...owner, tokens }, readRecordings().cases, deliberateDifferences);
    const used = new Set(judged.flatMap(({ reasons }) => reasons));
    expect(deliberateDifferences.filter((row) => !used.has(row))).toEqual([]);
    // To accept another outcome, run the test with -u, and review the change.
    await expect(`${summary(judged)}\n\n${judged.map(toLine).join('\n')}\n`).toMatchFileSnapshot(
      '../fixtures/zitadel/recorded-verdicts.txt',
    );
  });
});

describe('the deliberate differences', () => {
  const [, ...sections] = readFileSync(join(root, 'docs', 'zitadel.md'), 'utf8').split(/^#+ (?=\d)/m);

  it.each(deliberateDifferences)('are documented in docs/zitadel.md $section: $here', ({ section, here }) => {
    expect(sections.filter((text) => text.startsWith(`${section} `) && text.includes(here))).toHaveLength(1);
  });
});

describe('the differences of release 2.71', () => {
  const explain = (name: string, ...found: readonly Difference[]) => {
    const recorded = readRecordings().cases.find((one) => one.name === name);
    if (recorded === undefined) throw new Error(`no case ${name}`);
    return reasonsOf(releaseDifferences('2.71'), recorded, found);
  };

  it('explain the error of a removal for an unknown user', () => {
    const before = 'Errors.NotFound (COMMAND-4g3xq)';
    const after = "Multifactor OTP (OneTimePassword) doesn't exist (COMMAND-b312D)";
    const message = { part: 'message', path: '', zitadel: before, ours: after };
    const id = { part: 'error id', path: '', zitadel: 'COMMAND-4g3xq', ours: 'COMMAND-b312D' };
    expect(explain('delete otp: user not found', id, message)).toHaveLength(1);
  });

  it('explain the status of an addition for an unknown user', () => {
    const status = { part: 'status', path: '', zitadel: 404, ours: 400 };
    expect(explain('otp-email: add on unknown user', status)).toHaveLength(1);
  });

  it('explain a translated error', () => {
    const message = { part: 'message', path: '', zitadel: "doesn't exist", ours: 'existiert nicht' };
    expect(explain('otp-email: delete, German', message)).toHaveLength(1);
  });

  it('explain a missing state of an export, and no other state', () => {
    const state = { part: 'body', path: '.orgs[].orgState', zitadel: 'ORG_STATE_ACTIVE', ours: undefined };
    expect(explain('http: export one known, one unknown', state)).toHaveLength(1);
    const other = { ...state, ours: 'ORG_STATE_INACTIVE' };
    expect(explain('http: export one known, one unknown', other)).toBeUndefined();
  });

  it('explain an accepted member of an unknown project, and no other missing error of the case', () => {
    const explainMissing = (id: string) => {
      const error = { type: 'project_member', id: 'any', message: `ID=${id} Message=Errors.Project.NotFound` };
      const missing = { part: 'error missing', path: '', zitadel: error, ours: undefined };
      const success = { part: 'success', path: '.orgs[].projectMembers', zitadel: undefined, ours: [] };
      return explain('member: project unknown project', missing, success);
    };
    expect(explainMissing('COMMAND-EbFMN')).toHaveLength(1);
    expect(explainMissing('COMMAND-other')).toBeUndefined();
  });

  it('explain an absent id of a project grant, and no other id', () => {
    const id = { part: 'exported', path: '[].projectGrants[].grantId', zitadel: '{{gen}}', ours: undefined };
    expect(explain('grant: project grant id empty', id)).toHaveLength(1);
    expect(explain('grant: project grant id empty', { ...id, ours: '1' })).toBeUndefined();
    expect(explain('grant: project grant id twice', id)).toBeUndefined();
  });

  it('explain the message for an unknown host, and no other message', () => {
    const body = readRecordings().cases.find(({ name }) => name === 'unknown host')?.zitadel.body;
    const message = isJsonObject(body) ? String(body.message) : '';
    const reworded = message
      .replace('by host: instanceHost', 'by domain: instanceDomain')
      .replace(/publicHost :/, 'publicHostname unknown.example:9:')
      .replaceAll(':18080', ':9');
    const found = (answered: string) =>
      differences({ status: 404, body }, { status: 404, body: { code: 5, message: answered } });
    expect(explain('unknown host', ...found(reworded))).toHaveLength(1);
    expect(explain('unknown host', ...found(`${reworded}.`))).toBeUndefined();
  });
});

describe('the compared messages', () => {
  it('lack the port of an unknown host', () => {
    const answered = (port: string, rest = '') => ({
      status: 404,
      body: { code: 5, message: `no instance at unknown.example:${port}${rest}` },
    });
    expect(differences(answered('18080'), answered('9'))).toEqual([]);
    expect(differences(answered('18080'), answered('9', '!'))).toEqual([
      { part: 'message', path: '', zitadel: 'no instance at unknown.example', ours: 'no instance at unknown.example!' },
    ]);
  });
});

describe('npm run conformance', () => {
  it('lists the cases that differ, and exits with 1', async () => {
    await using server = createServer((request, response) => request.resume().on('end', () => response.end('{}')));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    const { code, stdout } = await conformance(`http://127.0.0.1:${address.port}`);
    expect(code).toBe(1);
    const lines = stdout.split('\n');
    expect(lines[lines.indexOf('differs    export: no Authorization') + 1]).toBe(
      '             status: 200 instead of 401',
    );
    expect(lines[lines.indexOf('not run    export: no membership') + 1]).toBe('             no token of nobody');
    expect(lines.at(-2)).toMatch(/^ZITADEL v4\.0 .*: same \d+, documented \d+, differs \d\d\d, not run 17$/);
  });

  it('rejects an unknown release of ZITADEL before it sends a request', async () => {
    const { code, stderr } = await conformance('http://127.0.0.1:9', '--release', '9.9');
    expect([code, stderr]).toEqual([1, 'unknown --release 9.9: specify 2.71, 4.0, 2026-07\n']);
  });

  it('prints its usage without an address', async () => {
    const { code, stderr } = await run(process.execPath, [script]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('URL --token FILE')]);
  });
});

const script = join(root, 'test', 'conformance', 'run.ts');

async function conformance(url: string, ...more: readonly string[]) {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const tokenFile = join(directory.path, 'token');
  await writeFile(tokenFile, 'any');
  return run(process.execPath, [script, url, '--token', tokenFile, ...more]);
}
