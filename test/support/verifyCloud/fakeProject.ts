import type { Ended } from '../../../tools/program.ts';
import { show } from '../../../tools/verifyCloud/action.ts';
import type { Ports, Session } from '../../../tools/verifyCloud/ports.ts';
import type { Reply } from '../../../tools/verifyCloud/step.ts';
import { createManualClock } from '../manualClock.ts';

/** The values that a run is given. */
export const given = new Map([
  ['PROJECT', 'acme-verify'],
  ['DOMAIN', 'verify.example.com'],
  ['REGION', 'europe-west1'],
  ['WORK', '/work-directory'],
]);

/** What a fake project does differently: the first answer whose pattern matches a line. */
export interface Differences {
  readonly programs?: readonly (readonly [
    RegExp,
    Partial<Ended> | ((signal: AbortSignal) => Promise<Partial<Ended>>),
  ])[];
  readonly replies?: readonly (readonly [RegExp, Partial<Reply>])[];
}

const json = (content: unknown) => ({ stdout: JSON.stringify(content) });

const records = (instance: string) => [
  {
    name: `_acme-challenge.${instance}.verify.example.com.`,
    type: 'CNAME',
    data: `${instance}.authorize.googleapis.com.`,
  },
  { name: `${instance}.verify.example.com.`, type: 'A', data: '203.0.113.7' },
];

/** The forms are those of gcloud and Terraform, with the fields that the run reads and some that it ignores. */
const programs: NonNullable<Differences['programs']> = [
  [/^gcloud projects describe/, json({ projectNumber: '1', labels: { 'identity-verify': 'throwaway' } })],
  [/output -json dns_records/, json({ north: records('north'), south: records('south') })],
  [/--project acceptance/, { stdout: '\n Test Files  12 passed (12)\n      Tests  240 passed (240)\n' }],
  [
    /^gcloud firestore databases describe/,
    json({
      name: 'projects/acme-verify/databases/north',
      pointInTimeRecoveryEnablement: 'POINT_IN_TIME_RECOVERY_ENABLED',
      versionRetentionPeriod: '604800s',
    }),
  ],
  [
    /fields describe partition/,
    json({
      indexConfig: {
        indexes: [
          { fields: [{ fieldPath: 'partition', order: 'ASCENDING' }], queryScope: 'COLLECTION', state: 'READY' },
        ],
      },
    }),
  ],
  [
    /fields describe/,
    json({ indexConfig: {}, name: 'projects/p/databases/north/collectionGroups/__default__/fields/*' }),
  ],
  [/backups schedules create/, { code: 1, stderr: 'ERROR: (gcloud) ALREADY_EXISTS: a daily schedule exists' }],
  [/^gcloud logging read/, json([{ severity: 'ERROR', protoPayload: { methodName: 'CreateBackupSchedule' } }])],
  [/^gcloud alpha monitoring policies create/, { stdout: 'projects/acme-verify/alertPolicies/42\n' }],
  [/describe north-import/, { stdout: 'north-import-00001-abc\n' }],
  [
    /describe south-remove-otp-email/,
    json({ metadata: { annotations: { 'run.googleapis.com/invoker-iam-disabled': 'true' } } }),
  ],
];

const page = { contentType: 'text/html; charset=UTF-8', text: '<html>' };
const importOf = (created: number, unchanged: number) =>
  JSON.stringify({ summary: { created: { humanUsers: created }, unchanged: { humanUsers: unchanged }, failed: {} } });
const MEGABYTE = 1_000_000;
const exportWith = (megabytes: number) => {
  const text = JSON.stringify({ orgs: [], manifest: { counts: { humanUsers: 250 } } }).padEnd(megabytes * MEGABYTE);
  return { text, announcedBytes: text.length };
};

/** By the request's line, and for imports that are sent again in this order. */
const replies: NonNullable<Differences['replies']> = [
  [/healthz/, { status: 404, ...page }],
  [/(33|36)000000 bytes/, { status: 413, ...page }],
  [/import as .*0000000004/, { status: undefined, broken: 'socket hang up', seconds: 70 }],
  [/import as .*0000000004/, { text: importOf(300, 600) }],
  [/import as .*00000000010/, { text: importOf(120, 0) }],
  [/import as .*0000000001[123]/, { status: 429, ...page }],
  [/import as .*00000000020/, { status: 504, seconds: 3_541 }],
  [/import as .*00000000021/, { status: 504, seconds: 3_600, ...page }],
  [/import as/, { text: importOf(250, 0) }],
  [/export as .*001","8/, exportWith(27)],
  [/export as/, exportWith(9)],
  [/a scope/, { status: 401 }],
];

/** A project in which everything is as expected, but for the differences: its answers are in the form of real ones. */
export function fakeProject({ programs: ownPrograms = [], replies: ownReplies = [] }: Differences = {}) {
  const done: string[] = [];
  const printed: string[] = [];
  const files = new Map<string, string>();
  const stop = new AbortController();
  const used = new Set<unknown>();
  const reply = (line: string): Partial<Reply> => {
    const all = [...ownReplies, ...replies].filter(([pattern]) => pattern.test(line));
    const row = all.find((candidate) => !used.has(candidate)) ?? all.at(-1);
    // Those of restarted imports come one after the other; the others are repeated.
    if (row !== undefined && all.length > 1 && /import as .*0000000004/.test(line)) used.add(row);
    return row?.[1] ?? {};
  };
  const ports: Ports = {
    run: async (command, signal) => {
      const line = show(command, given);
      done.push(line);
      const answer = [...ownPrograms, ...programs].find(([pattern]) => pattern.test(line))?.[1] ?? {};
      const ended = typeof answer === 'function' ? await answer(signal) : answer;
      return { code: 0, stdout: '', stderr: '', ...ended };
    },
    send: async (request) => {
      const line = show(request, given);
      done.push(line);
      const complete = {
        status: 200,
        contentType: 'application/json',
        announcedBytes: undefined,
        text: '{}',
        seconds: 1,
      };
      return { ...complete, ...reply(line) };
    },
    write: async (path, content) => {
      done.push(`# write ${path}`);
      files.set(path, content);
    },
    lookup: async (name, type) => {
      const all = [...records('north'), ...records('south')];
      return all.filter((one) => one.name === `${name}.` && one.type === type).map(({ data }) => data);
    },
  };
  const session: Session = {
    ports,
    values: given,
    signal: stop.signal,
    clock: createManualClock(),
    print: (line) => void printed.push(line),
  };
  return { session, done, printed, files, stop };
}
