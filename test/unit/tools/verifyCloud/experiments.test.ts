import { describe, expect, it } from 'vitest';
import { exitCode } from '../../../../tools/verifyCloud/report.ts';
import { runSteps } from '../../../../tools/verifyCloud/session.ts';
import type { Statement } from '../../../../tools/verifyCloud/statements.ts';
import { steps } from '../../../../tools/verifyCloud/steps.ts';
import { type Differences, fakeProject } from '../../../support/verifyCloud/fakeProject.ts';

const stdout = (content: unknown) => ({ stdout: JSON.stringify(content) });
const indexed = { indexConfig: { indexes: [{ queryScope: 'COLLECTION' }] } };
const imported = (summary: object) => ({
  text: JSON.stringify({ summary: { created: {}, unchanged: {}, failed: {}, ...summary } }),
});

/** What differs in the project, and which statement that contradicts. */
const contradictions: readonly (readonly [string, Statement, Differences])[] = [
  ['a plan after the apply has a difference', 'deployment', { programs: [[/-detailed-exitcode/, { code: 2 }]] }],
  [
    'an acceptance test fails',
    'deployment',
    { programs: [[/--project acceptance/, { code: 1, stdout: ' Tests  1 failed\n' }]] },
  ],
  [
    'versions are kept for an hour',
    'sevenDays',
    {
      programs: [
        [
          /databases describe/,
          stdout({ pointInTimeRecoveryEnablement: 'POINT_IN_TIME_RECOVERY_DISABLED', versionRetentionPeriod: '3600s' }),
        ],
      ],
    },
  ],
  ['fields are indexed by default', 'indexEntries', { programs: [[/fields describe --data/, stdout(indexed)]] }],
  ['partition is not indexed', 'indexEntries', { programs: [[/describe partition/, stdout({ indexConfig: {} })]] }],
  ['no error of a schedule is logged', 'backupErrors', { programs: [[/logging read/, stdout([])]] }],
  ['a long filter is rejected', 'filterValues', { programs: [[/policies create/, { code: 1, stderr: 'too long' }]] }],
  ['an exchanged token is rejected', 'exchangedKeys', { replies: [[/exchanged token/, { status: 401 }]] }],
  ['all paths reach the function', 'zPaths', { replies: [[/healthz/, { status: 200 }]] }],
  [
    'a large request breaks the connection',
    'largerRequest',
    { replies: [[/33000000 bytes/, { status: undefined, broken: 'EPIPE' }]] },
  ],
  [
    'the function sees the largest request',
    'largerRequest',
    { replies: [[/36000000 bytes/, { status: 413, contentType: 'application/json' }]] },
  ],
  [
    'a large response is cut',
    'largeResponse',
    { replies: [[/export as .*001","8/, { announcedBytes: 27, broken: 'aborted' }]] },
  ],
  ['a large response is an error', 'largeResponse', { replies: [[/export as .*001","8/, { status: 500 }]] }],
  [
    'a repeated import does not know the first',
    'resumption',
    {
      replies: [
        [/import as .*0000000004/, { status: 503 }],
        [/import as .*0000000004/, imported({ created: { humanUsers: 900 } })],
      ],
    },
  ],
  [
    'a repeated import loses people',
    'resumption',
    {
      replies: [
        [/import as .*0000000004/, { status: 503 }],
        [/import as .*0000000004/, imported({ unchanged: { humanUsers: 899 } })],
      ],
    },
  ],
  [
    'a new revision checks invokers',
    'keptSetting',
    { programs: [[/describe south-remove/, stdout({ metadata: {} })]] },
  ],
  ['all imports wait for the process', 'exhausted', { replies: [[/00000001[0123],/, { status: 200 }]] }],
  ['the function is cut early', 'sixtyMinutes', { replies: [[/00000000020/, { status: 504, seconds: 1_800 }]] }],
  ['the platform waits longer', 'sixtyMinutes', { replies: [[/00000000021/, { status: 504, seconds: 4_200 }]] }],
];

/** What shows nothing about a statement. */
const unsettling: readonly (readonly [string, Statement, Differences])[] = [
  ['a second schedule is accepted', 'backupErrors', { programs: [[/schedules create/, { code: 0 }]] }],
  ['the import ends before its process', 'resumption', { replies: [[/import as .*0000000004/, imported({})]] }],
  ['the long import takes less than an hour', 'sixtyMinutes', { replies: [[/00000000021/, imported({})]] }],
];

async function verdicts(differences: Differences, wanted: string) {
  const outcome = await runSteps(steps, fakeProject(differences).session);
  const found = outcome.findings.filter(({ verdict }) => verdict === wanted).map(({ statement }) => statement);
  return { found, code: exitCode(outcome), failures: outcome.failures, left: outcome.left };
}

describe('the experiments', () => {
  it.each(contradictions)('report that %s: %s', async (_what, statement, differences) => {
    const { found, code, failures, left } = await verdicts(differences, 'contradicts');
    expect({ found, failures, left }).toEqual({ found: [statement], failures: [], left: [] });
    expect(code).toBe(3);
  });

  it.each(unsettling)('settle nothing where %s: %s', async (_what, statement, differences) => {
    expect(await verdicts(differences, 'not settled')).toMatchObject({ found: [statement], code: 0, failures: [] });
  });

  it('measure the time to the certificates, and report more than an hour', async () => {
    const { session } = fakeProject();
    let calls = 0;
    const send: typeof session.ports.send = async (request, signal) => {
      const isEarly = request.url.endsWith('/health') && ++calls < 130;
      const reply = await session.ports.send(request, signal);
      return isEarly ? { ...reply, status: undefined, broken: 'EPROTO' } : reply;
    };
    const { findings } = await runSteps(steps, { ...session, ports: { ...session.ports, send } });
    const [time] = findings.filter(({ statement }) => statement === 'certificateTime');
    expect(time).toMatchObject({ observed: '65 minutes', verdict: 'contradicts' });
  });

  it('end where nobody creates the DNS records, after taking everything back', async () => {
    const { session, done } = fakeProject();
    const ports = { ...session.ports, lookup: async () => [] };
    const { failures, left } = await runSteps(steps, { ...session, ports });
    expect(failures).toEqual(['domains: the DNS records do not exist after 180 minutes']);
    expect(left).toEqual([]);
    expect(done.some((line) => line.includes(' destroy '))).toBe(true);
    expect(done.filter((line) => line.includes('--project acceptance'))).toEqual([]);
  });
});
