import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { commands } from '../../../cli/commands.ts';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { issueToken } from '../../../shared/accounts/personalAccessTokens.ts';
import { createServiceUser } from '../../../shared/accounts/serviceUsers.ts';
import { commandEvent } from '../../../shared/audit/audit.ts';
import { auditEvent } from '../../../shared/audit/auditEvent.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { openStore, type StoreLocation } from '../../../shared/store/openStore.ts';
import { breakTrail, eventsIn } from '../../support/audit/storedTrail.ts';
import { identity, identityJson } from '../../support/command.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { type Database, readDatabase } from '../../support/stores/database.ts';
import { createUser } from '../../support/stores/documents.ts';
import { describeStores, keyEnvironment, type StoreKind } from '../../support/stores/stores.ts';

const trail = z.strictObject({ events: z.array(auditEvent) });

/** The objects that the calls of the commands refer to. */
interface Subjects {
  readonly directory: string;
  readonly orgId: string;
  readonly userId: string;
  readonly tokenId: string;
  readonly backup: string;
  /** The file of the instance's master key. */
  readonly masterKey: string;
}

/** A call of each command, and the facts of its last event apart from its name and outcome. A new command needs a line. */
const calls: Readonly<Record<string, (subjects: Subjects) => readonly [args: readonly string[], facts: object]>> = {
  init: () => [[], { outcome: 'FAILED_PRECONDITION' }],
  'otp-email enable': () => [['ada'], { target: 'ada' }],
  'otp-email remove': () => [['unknown', '--dry-run'], {}],
  'pat create': ({ userId }) => [
    ['--user', userId, '--only', 'export'],
    { target: userId, flags: ['--only export'], ids: { tokenId: expect.any(String) } },
  ],
  'pat list': ({ userId }) => [['--user', userId], {}],
  'pat revoke': ({ tokenId }) => [[tokenId], { target: tokenId }],
  'member add': ({ userId }) => [
    ['--user', userId, '--role', 'IAM_OWNER'],
    { target: userId, flags: ['--role IAM_OWNER'] },
  ],
  'member remove': ({ userId }) => [['--user', userId, '--role', 'IAM_OWNER'], { target: userId }],
  'member list': () => [[], {}],
  'org list': () => [[], {}],
  'org delete': ({ orgId }) => [[orgId, 'other', '--yes'], { orgIds: [orgId, 'other'], outcome: 'NOT_FOUND' }],
  'user list': () => [[], {}],
  'user lock': ({ userId }) => [[userId], { target: userId }],
  'user unlock': ({ userId }) => [[userId], { target: userId }],
  'service-user create': () => [['bot'], { target: 'bot', ids: { userId: expect.any(String) } }],
  'service-user delete': ({ userId }) => [[userId, '--force'], { target: userId, flags: ['--force'] }],
  rekey: () => [[], {}],
  audit: () => [[], {}],
  'migrate prepare': ({ directory }) => [
    ['--token-file', join(directory, 'source.pat'), '--only', 'export'],
    {
      flags: [`--token-file ${join(directory, 'source.pat')}`, '--only export'],
      ids: { userId: expect.any(String), tokenId: expect.any(String) },
    },
  ],
  backup: ({ backup }) => [[backup], { target: backup }],
  restore: ({ backup, masterKey }) => [[backup, '--key', masterKey], { target: backup }],
};
/**
 * A server runs until it is stopped, and its operations are recorded, as are exports and imports between places. The other
 * commands only read, or open no instance.
 */
const onPlaces = ['export', 'import', 'compare', 'inspect'];
const migrating = ['migrate', 'migrate plan', 'migrate resume', 'migrate report', 'migrate cleanup'];
const notCalled = ['serve', ...onPlaces, ...migrating];
/** Commands whose calls fail, so that the objects of the other calls remain. */
const failing: Readonly<Record<string, number>> = { init: 1, 'otp-email remove': 64, 'org delete': 64 };
/** Commands that exist for self-hosted instances only. */
const selfHostedOnly = ['audit', 'backup', 'restore'];
/** On Firestore, it first waits until every process has read the new key. */
const slowOnFirestore = ['rekey'];

async function newInstance(kind: StoreKind) {
  const location = await kind.newLocation();
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const store = await openStore(location);
  const { orgId } = await initialise(store, { name: 'north' }, DAY_MS, new Date());
  const userId = await createServiceUser(store, 'robot', orgId, new Date());
  const { tokenId } = await issueToken(store, userId, new Date(), DAY_MS);
  await store.commit([createUser('ada', { partition: 'humanUsers/0', orgId, body: '{"user":{}}' })]);
  await store.close();
  const backup = join(directory.path, 'north.backup');
  const masterKey = location.kind === 'sqlite' ? join(location.directory, 'master.key') : '';
  return { location, subjects: { directory: directory.path, orgId, userId, tokenId, backup, masterKey } };
}

async function databaseAt(location: StoreLocation): Promise<Database> {
  const store = await openStore(location);
  try {
    return await readDatabase(store);
  } finally {
    await store.close();
  }
}

/** The trail of a database; in the cloud, the part that a command printed on standard error. */
async function trailOf(location: StoreLocation, printed: string): Promise<readonly z.infer<typeof auditEvent>[]> {
  if (location.kind === 'sqlite') return eventsIn(location.directory);
  const lines = printed.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => auditEvent.parse(JSON.parse(line)));
}

describe('the table of commands', () => {
  it('has a call for each command in this test', () => {
    expect([...Object.keys(calls), ...notCalled].toSorted()).toEqual(commands.map(({ name }) => name).toSorted());
  });
});

describeStores('the commands in the audit trail', (kind) => {
  it('are recorded if they change data or copy secrets, and only then', async () => {
    const { location, subjects } = await newInstance(kind);
    let target = location;
    let known = 0;
    for (const [name, call] of Object.entries(calls)) {
      if (kind.name === 'Firestore' && [...selfHostedOnly, ...slowOnFirestore].includes(name)) continue;
      const command = commands.find((one) => one.name === name);
      const [args, facts] = call(subjects);
      const before = await databaseAt(target);
      if (name === 'restore') {
        target = { kind: 'sqlite', directory: join(subjects.directory, 'restored') };
        // The backup's last event came after its copy.
        known--;
      }
      const line = [...name.split(' '), ...args, ...databaseOptions(target)];
      const { code, stdout, stderr, trail: printed } = await identity(line, { env: keyEnvironment(target) });
      expect({ name, code }, stderr).toEqual({ name, code: failing[name] ?? 0 });
      const lines = await trailOf(target, printed);
      const added = kind.name === 'Firestore' ? lines : lines.slice(known);
      known = lines.length;
      expect(stdout).not.toContain('"event"');
      if (command !== undefined && 'isAudited' in command && command.isAudited) {
        const event = commandEvent(name);
        expect(added, name).toEqual([
          expect.objectContaining({ event, outcome: 'started', account: expect.any(String) }),
          expect.objectContaining({ event, outcome: 'ok', ...facts }),
        ]);
      } else {
        expect(added, name).toEqual([]);
        expect(await databaseAt(target), name).toEqual(before);
      }
    }
  });
});

describe('a command whose event cannot be written', () => {
  it('changes nothing, and prints the reason', async () => {
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    const data = join(path, 'north');
    const { userId } = z.looseObject({ userId: z.string() }).parse(await identityJson(['init', '--data', data]));
    const before = await databaseAt({ kind: 'sqlite', directory: data });
    breakTrail(data);
    const { code, stdout, stderr } = await identity(['pat', 'create', '--user', userId, '--data', data]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/identity: the audit trail cannot be written.*\n$/);
    expect(await databaseAt({ kind: 'sqlite', directory: data })).toEqual(before);
  });
});

it('an audited command is recorded with the uid of an account without a name', async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  vi.spyOn(os, 'userInfo').mockImplementation(() => {
    throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT (no such file or directory)');
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  await identityJson(['init', '--data', path]);
  const account = `uid ${process.getuid?.()}`;
  const { events } = trail.parse(await identityJson(['audit', '--data', path]));
  expect(events).toEqual([expect.objectContaining({ account }), expect.anything()]);
});
