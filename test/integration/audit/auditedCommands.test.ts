import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { createServiceUser } from '../../../cli/accounts/serviceUsers.ts';
import { commands } from '../../../cli/commands/commands.ts';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { issueToken } from '../../../shared/accounts/personalAccessTokens.ts';
import { commandEvent } from '../../../shared/audit/audit.ts';
import { auditEvent } from '../../../shared/audit/auditEvent.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { openStore, type StoreLocation } from '../../../shared/store/openStore.ts';
import { breakTrail, eventsIn } from '../../support/audit/storedTrail.ts';
import { identity, identityJson } from '../../support/command.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { type Database, readDatabase } from '../../support/stores/database.ts';
import { createUser } from '../../support/stores/documents.ts';
import { describeStores, keyEnvironment, type StoreKind, setUpOnce } from '../../support/stores/stores.ts';

const trail = z.strictObject({ events: z.array(auditEvent) });

/** A call of a command, and the facts of its last event apart from its name and outcome. */
interface Row {
  readonly command: string;
  readonly args: readonly string[];
  readonly facts?: object;
  /** The exit code; 0 by default. Some calls fail, so that the objects of the other calls remain. */
  readonly exit?: number;
  /** The only database on which it is called. */
  readonly only?: StoreKind['name'];
}

const onUser = ['--user', 'ROBOT'];
/** The name of a new id in the facts. */
const NEW = expect.any(String);
const self: Pick<Row, 'only'> = { only: 'SQLite' };

/** A new command needs a row. Words in capitals are those of `subjects`. */
const rows: readonly Row[] = [
  { command: 'init', args: [], facts: { outcome: 'FAILED_PRECONDITION' }, exit: 1 },
  { command: 'otp-email enable', args: ['ada'], facts: { target: 'ada' } },
  { command: 'otp-email remove', args: ['unknown', '--dry-run'], exit: 64 },
  {
    command: 'pat create',
    args: [...onUser, '--only', 'export'],
    facts: { target: 'ROBOT', flags: ['--only export'], ids: { tokenId: NEW } },
  },
  { command: 'pat list', args: onUser },
  { command: 'pat revoke', args: ['TOKEN'], facts: { target: 'TOKEN' } },
  {
    command: 'member add',
    args: [...onUser, '--role', 'IAM_OWNER'],
    facts: { target: 'ROBOT', flags: ['--role IAM_OWNER'] },
  },
  { command: 'member remove', args: [...onUser, '--role', 'IAM_OWNER'], facts: { target: 'ROBOT' } },
  { command: 'member list', args: [] },
  { command: 'org list', args: [] },
  {
    command: 'org delete',
    args: ['ORG', 'other', '--yes'],
    facts: { orgIds: ['ORG', 'other'], outcome: 'NOT_FOUND' },
    exit: 64,
  },
  { command: 'user list', args: [] },
  { command: 'user lock', args: ['ROBOT'], facts: { target: 'ROBOT' } },
  { command: 'user unlock', args: ['ROBOT'], facts: { target: 'ROBOT' } },
  { command: 'user delete', args: ['ada'], facts: { target: 'ada', outcome: 'CANCELLED' }, exit: 2 },
  { command: 'user-grant list', args: onUser },
  {
    command: 'user-grant remove',
    args: [...onUser, '--project', 'p', '--yes'],
    facts: { target: 'ROBOT', flags: ['--project p', '--yes'], outcome: 'NOT_FOUND' },
    exit: 1,
  },
  { command: 'service-user create', args: ['bot'], facts: { target: 'bot', ids: { userId: NEW } } },
  { command: 'service-user delete', args: ['ROBOT', '--force'], facts: { target: 'ROBOT', flags: ['--force'] } },
  // On Firestore, it first waits until every process has read the new key.
  { command: 'rekey', args: [], ...self },
  { command: 'audit', args: [], ...self },
  {
    command: 'migrate prepare',
    args: ['--token-file', 'FILE', '--only', 'export'],
    facts: { flags: ['--token-file FILE', '--only export'], ids: { userId: NEW, tokenId: NEW } },
  },
  { command: 'backup', args: ['BACKUP'], facts: { target: 'BACKUP' }, ...self },
  { command: 'restore', args: ['BACKUP', '--key', 'KEY'], facts: { target: 'BACKUP' }, ...self },
];

/**
 * A server runs until it is stopped, and its operations are recorded, as are exports and imports between places. The other
 * commands only read, or open no instance.
 */
const onPlaces = ['export', 'import', 'compare', 'inspect'];
const notCalled = ['serve', ...onPlaces, 'migrate'];
async function newInstance(kind: StoreKind, directory: string) {
  const location = await kind.newLocation();
  const store = await openStore(location);
  const { orgId } = await initialise(store, { name: 'north' }, DAY_MS, new Date());
  const userId = await createServiceUser(store, 'robot', orgId, new Date());
  const { tokenId } = await issueToken(store, userId, new Date(), DAY_MS);
  await store.commit([createUser('ada', { partition: 'humanUsers/0', orgId, body: '{"user":{}}' })]);
  await store.close();
  const subjects: Readonly<Record<string, string>> = {
    ...{ ROBOT: userId, TOKEN: tokenId, ORG: orgId },
    FILE: join(directory, 'source.pat'),
    BACKUP: join(directory, 'north.backup'),
    KEY: location.kind === 'sqlite' ? join(location.directory, 'master.key') : '',
  };
  /** Replaces words in capitals, in texts and lists at any depth. */
  const resolve = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(/\b[A-Z]+\b/g, (word) => subjects[word] ?? word);
    return Array.isArray(value) ? value.map(resolve) : value;
  };
  const resolveFacts = (facts: object) =>
    Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, resolve(fact)]));
  return { location, resolve, resolveFacts };
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
    expect([...rows.map(({ command }) => command), ...notCalled].toSorted()).toEqual(
      commands.map(({ name }) => name).toSorted(),
    );
  });
});

describeStores('the commands in the audit trail', (kind) => {
  let directory: TemporaryDirectory = { path: '', remove: async () => {} };
  beforeAll(async () => {
    directory = await temporaryDirectory();
    return () => directory.remove();
  });
  const instance = setUpOnce(() => newInstance(kind, directory.path));
  let known = 0;

  const tried = rows.filter(({ only = kind.name }) => only === kind.name);
  it.each(tried)('are recorded if they change data or copy secrets, and only then: $command', async (row) => {
    const { location, resolve, resolveFacts } = instance();
    const isRestore = row.command === 'restore';
    const target: StoreLocation = isRestore
      ? { kind: 'sqlite', directory: join(directory.path, 'restored') }
      : location;
    const before = await databaseAt(location);
    const args = row.args.map((word) => String(resolve(word)));
    const line = [...row.command.split(' '), ...args, ...databaseOptions(target)];
    const { code, stdout, stderr, trail: printed } = await identity(line, { env: keyEnvironment(target) });
    expect(code, stderr).toBe(row.exit ?? 0);
    expect(stdout).not.toContain('"event"');
    const lines = await trailOf(target, printed);
    // The backup's last event came after its copy.
    const added = kind.name === 'Firestore' ? lines : lines.slice(isRestore ? known - 1 : known);
    known = lines.length;
    const command = commands.find(({ name }) => name === row.command);
    if (command !== undefined && 'isAudited' in command && command.isAudited) {
      const event = commandEvent(row.command);
      expect(added).toEqual([
        expect.objectContaining({ event, outcome: 'started', account: expect.any(String) }),
        expect.objectContaining({ event, outcome: 'ok', ...resolveFacts(row.facts ?? {}) }),
      ]);
    } else {
      expect(added).toEqual([]);
      expect(await databaseAt(location)).toEqual(before);
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
    expect(stderr).toMatch(/identity: the audit trail is not writable.*\n$/);
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
