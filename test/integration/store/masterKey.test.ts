import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rekey } from '../../../cli/accounts/masterKeyRotation.ts';
import { openKeyring, openStore, type StoreLocation } from '../../../shared/store/openStore.ts';
import { readKeyRecord } from '../../../shared/store/secrets/keyRecord.ts';
import type { Store } from '../../../shared/store/store.ts';
import { identity, identityJson } from '../../support/command.ts';
import { describeWithFirestore } from '../../support/emulators/withFirestore.ts';
import { servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { startFunction } from '../../support/processes/programs.ts';
import { createUser, readUser, userKey } from '../../support/stores/documents.ts';
import { interruptedStore } from '../../support/stores/interruptedStore.ts';
import { rawContent } from '../../support/stores/rawContent.ts';
import { describeStores, firestore, openTestStore, type StoreKind, sqlite } from '../../support/stores/stores.ts';

const newKey = () => randomBytes(32).toString('base64');
const options = { signal: new AbortController().signal, onStep: () => {}, fenceMs: 0 };

async function newDirectory() {
  const location = await sqlite.newLocation();
  if (location.kind !== 'sqlite') throw new Error('not a directory');
  return { location, directory: location.directory, keyFile: join(location.directory, 'master.key') };
}

const keyLines = async (file: string) =>
  (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '' && !line.startsWith('#'));

/** The ids of the keys that a database names. */
async function keyIds(location: StoreLocation): Promise<readonly string[]> {
  return (await readKeyRecord(await openTestStore(sqlite, location)))?.ids ?? [];
}

const USERS = 600;
const names = Array.from({ length: USERS }, (_, index) => `user ${index}`);

async function fill(store: Store): Promise<void> {
  for (const half of [names.slice(0, 300), names.slice(300)])
    await store.commit(half.map((name) => createUser(name, { totpSeed: `SEED of ${name}` })));
  const provider = { collection: 'identityProviders', id: userKey('provider').id } as const;
  await store.commit([{ type: 'create', key: provider, fields: { clientSecret: 'client secret' } }]);
}

async function expectAllSecrets(store: Store): Promise<void> {
  const users = await store.getMany(
    names.map((name) => userKey(name)),
    ['totpSeed'],
  );
  expect(users.map((user) => user?.totpSeed)).toEqual(names.map((name) => `SEED of ${name}`));
}

/** The ids of the keys that encrypt the users' values, and the number of values of each. */
async function usedKeys(store: Store): Promise<Record<string, number>> {
  const users = await store.getMany(
    names.map((name) => userKey(name)),
    ['sealedTotpSeed'],
  );
  const used: Record<string, number> = {};
  for (const user of users) {
    const [id = ''] = user?.sealedTotpSeed?.split('.') ?? [];
    used[id] = (used[id] ?? 0) + 1;
  }
  return used;
}

/** The location for processes with the new key: a variable lists it first, a file need not change. */
function withNewKey(location: StoreLocation): StoreLocation {
  return location.kind === 'sqlite' ? location : { ...location, masterKey: `${newKey()},${location.masterKey}` };
}

const onlyNewest = ({ masterKey, ...location }: StoreLocation): StoreLocation =>
  masterKey === undefined ? location : { ...location, masterKey: masterKey.split(',')[0] };

async function filledLocation(kind: StoreKind): Promise<StoreLocation> {
  const location = await kind.newLocation();
  const store = await openStore(location);
  await fill(store);
  await store.close();
  return location;
}

describeStores('identity rekey', (kind) => {
  it('encrypts every secret with a new key while another process reads and writes', async () => {
    const location = withNewKey(await filledLocation(kind));
    const opened: Store[] = [];
    const open = async (place: StoreLocation) => {
      const store = await openStore(place);
      opened.push(store);
      return store;
    };
    const server = await open(location);
    await expectAllSecrets(server);
    const [earlier] = (await readKeyRecord(server))?.ids ?? [];
    const { keyId, documents } = await rekey(await open(location), openKeyring(location), options);
    expect(keyId).not.toBe(earlier);
    expect(documents).toBe(USERS + 1);
    expect(await usedKeys(server)).toEqual({ [keyId]: USERS });
    await expectAllSecrets(server);
    await server.commit([createUser('late', { totpSeed: 'LATE' })]);
    expect(await readUser(server, 'late')).toMatchObject({ totpSeed: 'LATE' });
    // Without the wait, the server still encrypts with the earlier key on Firestore: a repetition finds such values.
    if (kind.name === 'Firestore')
      expect(await rekey(await open(location), openKeyring(location), options)).toEqual({
        keyId,
        documents: 1,
        earlierKeys: [],
      });
    const after = await open(onlyNewest(location));
    await expectAllSecrets(after);
    expect(await readUser(after, 'late')).toMatchObject({ totpSeed: 'LATE' });
    for (const store of opened) await store.close();
    const raw = await rawContent(location);
    expect(raw).toContain(`${keyId}.`);
    expect(raw).not.toContain(`${earlier}.`);
  });

  it.each([0, 1, 2, 3, 4])(
    'that was killed at commit %d is completed by another call, and loses nothing',
    async (commit) => {
      const location = withNewKey(await filledLocation(kind));
      const store = await openTestStore(kind, location);
      for (const when of ['before', 'after'] as const) {
        const killed = interruptedStore(store, { commit, when }, () => Promise.reject(new Error('killed')));
        await rekey(killed, openKeyring(location), options).catch((error: Error) =>
          expect(error.message).toBe('killed'),
        );
        await expectAllSecrets(await openTestStore(kind, location));
      }
      const { keyId } = await rekey(await openTestStore(kind, location), openKeyring(location), options);
      const after = await openTestStore(kind, onlyNewest(location));
      expect((await readKeyRecord(after))?.ids).toEqual([keyId]);
      expect(await usedKeys(after)).toEqual({ [keyId]: USERS });
      await expectAllSecrets(after);
    },
  );
});

describeStores('a database with another master key', (kind) => {
  it('is rejected by every operation, and not changed', async () => {
    const location = await filledLocation(kind);
    const wrong = { ...location, masterKey: newKey() };
    const before = await rawContent(location);
    const use = async (work: (store: Store) => Promise<unknown>) => work(await openTestStore(kind, wrong));
    const refused = { code: 'UNAVAILABLE', httpStatus: 503, reason: 'MASTER_KEY_UNKNOWN' };
    await expect(use((store) => store.getMany([userKey('user 0')], ['state']))).rejects.toMatchObject(refused);
    await expect(use((store) => store.commit([createUser('other')]))).rejects.toMatchObject(refused);
    await expect(
      use((store) => store.transaction(async ({ write }) => write([createUser('other')]))),
    ).rejects.toMatchObject(refused);
    await expect(use((store) => store.snapshot())).rejects.toMatchObject(refused);
    expect(await rawContent(location)).toBe(before);
  });
});

describeWithFirestore('a request to a function', () => {
  it('gets 503 with the name of the error if the master key is wrong', async () => {
    const location = await filledLocation(firestore);
    const owner = await testInstance(await openTestStore(firestore, location));
    const wrong = await openTestStore(firestore, { ...location, masterKey: newKey() });
    const { status, text } = await servedInstance(wrong, owner).attempt('export', { response_output: true });
    expect({ status, text }).toEqual({ status: 503, text: expect.stringContaining('"MASTER_KEY_UNKNOWN"') });
  });
});

describe('master.key', () => {
  it('is created with the database, for its owner only, and never again', async () => {
    const { location, directory, keyFile } = await newDirectory();
    const first = await openStore(location);
    expect((await readdir(directory)).filter((name) => name.startsWith('master'))).toEqual(['master.key']);
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
    const text = await readFile(keyFile, 'utf8');
    await first.close();
    await openTestStore(sqlite, location);
    expect(await readFile(keyFile, 'utf8')).toBe(text);
  });

  it('that is missing, wrong or invalid ends every command with exit code 1 and a remedy', async () => {
    const { directory, keyFile } = await newDirectory();
    await identityJson(['init', '--data', directory]);
    const serve = () => identity(['serve', '--port', '0', '--data', directory]);
    await rm(keyFile);
    expect(await serve()).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^identity: there is no master key.*set IDENTITY_MASTER_KEY, or put master\.key back/,
      ),
    });
    await writeFile(keyFile, newKey());
    expect(await serve()).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('specify the key of this database'),
    });
    await writeFile(keyFile, 'secret');
    expect(await serve()).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`invalid master key in ${keyFile}`),
    });
    expect(await readFile(keyFile, 'utf8')).toBe('secret');
  });

  it('is ignored if IDENTITY_MASTER_KEY is set', async () => {
    const { directory, keyFile } = await newDirectory();
    const env = { IDENTITY_MASTER_KEY: randomBytes(32).toString('hex') };
    await identityJson(['init', '--data', directory], { env });
    await expect(stat(keyFile)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await identityJson(['org', 'list', '--data', directory], { env })).toMatchObject({ organisations: [{}] });
  });

  it('contains only the new key after a rotation, and the command prints its id', async () => {
    const { location, directory, keyFile } = await newDirectory();
    await identityJson(['init', '--data', directory]);
    const [before] = await keyLines(keyFile);
    const [earlier = ''] = await keyIds(location);
    const rotated = await identityJson(['rekey', '--data', directory]);
    const [after, ...others] = await keyLines(keyFile);
    expect(others).toEqual([]);
    expect(after).not.toBe(before);
    const [keyId] = await keyIds(location);
    const kept = `${keyFile}.${earlier}`;
    expect(rotated).toEqual({ keyId, documents: 0, earlierKeys: [{ id: earlier, file: kept }] });
    expect(await keyLines(kept)).toEqual([before]);
    expect((await stat(kept)).mode & 0o777).toBe(0o600);
  });

  it('is listed by identity init and by each rotation, with the keys that earlier backups need', async () => {
    const { location, directory, keyFile } = await newDirectory();
    const copy = `the master key is in ${keyFile}: copy the key to another machine`;
    expect((await identity(['init', '--data', directory])).stdout).toContain(copy);
    const kept: string[] = [];
    for (let rotation = 0; rotation < 2; rotation++) {
      const [earlier = ''] = await keyIds(location);
      kept.push(`master.key.${earlier}`);
      const { stdout } = await identity(['rekey', '--data', directory]);
      expect(stdout).toContain(copy);
      expect(stdout).toContain(
        `earlier backups need the master key ${earlier} in ${keyFile}.${earlier}: keep this key as long as these backups`,
      );
    }
    const files = (await readdir(directory)).filter((name) => name.startsWith('master.key.'));
    expect(files.toSorted()).toEqual(kept.toSorted());
  });
});

describe('a restored backup', () => {
  it('needs the key of its database', async () => {
    const { directory } = await newDirectory();
    await identityJson(['init', '--data', directory]);
    const file = join(directory, 'copy.backup');
    await identityJson(['backup', file, '--data', directory]);
    const restored = join(directory, 'restored');
    const without = await identity(['restore', file, '--data', restored]);
    expect(without).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/a backup has no master key: specify .+ with --key FILE/),
    });
    const env = { IDENTITY_MASTER_KEY: newKey() };
    const wrong = await identity(['restore', file, '--data', restored], { env });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('specify the key of this database') });
    expect(existsSync(restored)).toBe(false);
    await identityJson(['restore', file, '--data', restored, '--key', join(directory, 'master.key')]);
    expect((await readdir(restored)).toSorted()).toEqual(['identity.sqlite', 'master.key']);
  });
});

it('a backup from before two rotations is restored with the key that the error points to', async () => {
  const { location, directory, keyFile } = await newDirectory();
  const store = await openStore(location);
  await fill(store);
  await store.close();
  await identityJson(['init', '--data', directory]);
  const [earlier = ''] = await keyIds(location);
  const file = join(directory, 'earlier.backup');
  await identityJson(['backup', file, '--data', directory]);
  for (let rotation = 0; rotation < 2; rotation++) await identityJson(['rekey', '--data', directory]);
  const restored = join(directory, 'restored');
  const restore = (key: string) => identity(['restore', file, '--data', restored, '--key', key]);
  expect(await restore(keyFile)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      `\`identity rekey\` keeps the earlier key of a data directory in its file master.key.${earlier}`,
    ),
  });
  expect(await restore(`${keyFile}.${earlier}`)).toMatchObject({ code: 0 });
  await expectAllSecrets(await openTestStore(sqlite, { kind: 'sqlite', directory: restored }));
});

describe('a function that handles secrets', () => {
  it('does not start on Firestore without a master key', async () => {
    const started = startFunction('export', { FIRESTORE_PROJECT: 'nobody', IDENTITY_MASTER_KEY: '' });
    await expect(started).rejects.toThrow('there is no master key');
  });
});
