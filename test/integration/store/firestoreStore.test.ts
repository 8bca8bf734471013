import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { grpc } from 'google-gax';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import type { PartitionRange, StoredDocument } from '../../../shared/store/store.ts';
import { freePort } from '../../../tools/freePort.ts';
import { describeWithFirestore, firestoreEmulator } from '../../support/emulators/withFirestore.ts';
import { startTcpProxy } from '../../support/http/tcpProxy.ts';
import { createUser, createUsers, readUser, scanAll } from '../../support/stores/documents.ts';
import { firestore, openTestStore } from '../../support/stores/stores.ts';

async function openBehindProxy() {
  const location = await firestore.newLocation();
  const proxy = await startTcpProxy(`http://${firestoreEmulator}`);
  onTestFinished(() => proxy.close());
  vi.stubEnv('FIRESTORE_EMULATOR_HOST', new URL(proxy.url).host);
  const store = await openTestStore(firestore, location);
  vi.unstubAllEnvs();
  return { proxy, store };
}

const ranges: readonly (readonly [what: string, range: Partial<PartitionRange>])[] = [
  ['ids', {}],
  ['partitions', { partitions: { from: 's/', to: 's0' } }],
];

/** Expects the documents of `createUsers`, in any order. */
function expectEachOnce(documents: readonly StoredDocument[], count: number): void {
  const sequences = documents.map(({ sequence }) => sequence ?? -1).toSorted((a, b) => a - b);
  expect(sequences).toEqual(Array.from({ length: count }, (_, index) => index));
}

describeWithFirestore('the Firestore store', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each(ranges)(
    'continues a scan of %s whose connection breaks, without losing or repeating a document',
    async (_what, part) => {
      const { proxy, store } = await openBehindProxy();
      await createUsers(store, 5_000, { body: 'x'.repeat(1_000), partition: 's/a' });
      const snapshot = await store.snapshot();
      const before = proxy.connections();
      proxy.cut('down', 2_500_000);
      const { documents } = await scanAll(snapshot, { collection: 'users', ...part, fields: ['sequence', 'body'] });
      expect(proxy.connections()).toBe(before + 1);
      expectEachOnce(documents, 5_000);
    },
  );

  it.each(ranges)('closes a scan of %s that is not read for a while, and continues it later', async (_what, part) => {
    const store = await openTestStore(firestore);
    await createUsers(store, 3_000, { body: 'x'.repeat(1_000), partition: 's/a' });
    const snapshot = await store.snapshot();
    const queries = vi.spyOn(grpc.Client.prototype, 'makeServerStreamRequest');
    onTestFinished(() => queries.mockRestore());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const all: StoredDocument[] = [];
    for await (const documents of snapshot.scan({ collection: 'users', ...part })) {
      if (all.length === 0) vi.advanceTimersByTime(60_000);
      all.push(...documents);
    }
    expect(queries).toHaveBeenCalledTimes(2);
    expectEachOnce(all, 3_000);
  });

  it('reads again when the connection breaks', async () => {
    const { proxy, store } = await openBehindProxy();
    await store.commit([createUser('a', { body: 'x'.repeat(100_000) })]);
    proxy.cut('down', 50_000);
    expect((await readUser(store, 'a'))?.body).toHaveLength(100_000);
  });

  it('ends the call of a scan that is stopped early', async () => {
    const { proxy, store } = await openBehindProxy();
    await createUsers(store, 3_000, { body: 'x'.repeat(1_000) });
    const snapshot = await store.snapshot();
    for await (const documents of snapshot.scan({ collection: 'users' })) {
      expect(documents).toHaveLength(500);
      break;
    }
    await store.close();
    await expect.poll(() => proxy.connections() - proxy.ended()).toBe(0);
  });

  it('fails with UNAVAILABLE, without a text of the library, if the database cannot be reached', async () => {
    vi.stubEnv('FIRESTORE_EMULATOR_HOST', `127.0.0.1:${await freePort()}`);
    const store = await openTestStore(firestore, { kind: 'firestore', projectId: 'nobody', databaseId: '(default)' });
    const failure = { code: 'UNAVAILABLE', message: 'the database is unavailable: retry the request' };
    // Retry delays are ten times shorter.
    const now = performance.now.bind(performance);
    const start = now();
    vi.spyOn(performance, 'now').mockImplementation(() => start + (now() - start) * 10);
    vi.spyOn(Math, 'random').mockReturnValue(0.05);
    onTestFinished(() => void vi.restoreAllMocks());
    await Promise.all([
      expect(readUser(store, 'a')).rejects.toMatchObject(failure),
      expect(store.commit([createUser('a')])).rejects.toMatchObject(failure),
      expect(store.transaction(({ getMany }) => getMany([]))).rejects.toMatchObject(failure),
      expect(store.snapshot()).rejects.toMatchObject(failure),
    ]);
  });

  it('reports a rejection of the database in one word', async () => {
    const store = await openTestStore(firestore);
    const key = { collection: 'users', id: 'x'.repeat(2_000) } as const;
    await expect(store.commit([{ type: 'create', key, fields: {} }])).rejects.toMatchObject({
      code: 'INTERNAL',
      message: 'database error: INVALID_ARGUMENT',
    });
  });

  it('prints nothing, and lets the process end, when it is used with the emulator', async () => {
    const openStore = new URL('../../../shared/store/openStore.ts', import.meta.url);
    const program = `
      const { openStore } = await import(${JSON.stringify(openStore.href)});
      const store = await openStore({ kind: 'firestore', projectId: 'quiet', databaseId: '(default)' });
      await store.getMany([{ collection: 'users', id: 'a' }]);
      await store.close();`;
    const { METADATA_SERVER_DETECTION: _, ...env } = process.env;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { env });
    await expect(run).resolves.toEqual({ stdout: '', stderr: '' });
  });
});
