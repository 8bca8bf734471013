import { expect, it, onTestFinished, vi } from 'vitest';
import { routes } from '../../../functions/removeOtpEmail/app.ts';
import { enableOtpEmail } from '../../../shared/accounts/userAccounts.ts';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import { createApp } from '../../../shared/http/app.ts';
import { serve } from '../../../shared/http/server.ts';
import { type Store, WriteConflictError } from '../../../shared/store/store.ts';
import { survived } from '../../faults/support/survived.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { describeWithFirestore } from '../../support/emulators/withFirestore.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import type { CallFault } from '../../support/http/grpcProxy.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { createUser, readUser, userKey } from '../../support/stores/documents.ts';
import { openProxiedStore } from '../../support/stores/proxiedStore.ts';
import { hookedStore } from '../../support/stores/watchedStore.ts';

/** A commit that is lost, or whose response is lost. */
const lostCommit = { method: 'Commit', isForwarded: true } as const;
const unsentCommit = { method: 'Commit', isForwarded: false } as const;
const lostRead = { method: 'BatchGetDocuments', isForwarded: true } as const;

function setState(name: string, state: string) {
  return { type: 'update', key: userKey(name), fields: { state } } as const;
}

async function increment(store: Store): Promise<void> {
  await store.transaction(async ({ getMany, write }) => {
    const [user] = await getMany([userKey('counter')]);
    write([{ type: 'update', key: userKey('counter'), fields: { sequence: (user?.sequence ?? 0) + 1 } }]);
  });
}

/** A removal of the OTP e-mail factor of `ada` over a network, which returns the response's status. */
async function servedRemoval(direct: Store, store: Store): Promise<() => Promise<number>> {
  const instance = await testInstance(direct);
  await instance.import({ data_orgs: { orgs: [organisation('north', { humanUsers: [person('ada')] })] } });
  await enableOtpEmail(direct, 'ada', new Date());
  const app = createApp({ routes: routes({ store, audit: memoryTrail().audit, now: () => new Date() }) });
  const server = await serve({ app, host: '127.0.0.1', port: 0, drainMs: 0 });
  onTestFinished(async () => void (await server.close()));
  return async () => {
    const headers = { authorization: `Bearer ${instance.token}` };
    const response = await fetch(`${server.url}/v2/users/ada/otp_email`, { method: 'DELETE', headers });
    return response.status;
  };
}

describeWithFirestore('the lock of an instance whose commit is applied without a response', () => {
  const takeShared = (store: Store, signal = new AbortController().signal) =>
    store.lock.take({ mode: 'shared', operation: 'import', caller: 'test', signal });
  /** Takes the lock alone, which must be free. */
  const takeFree = (store: Store) => {
    const { signal } = new AbortController();
    const onWait = () => expect.unreachable('the lock is free');
    return store.lock.take({ mode: 'alone', operation: 'rekey', caller: 'test', signal, onWait });
  };

  it('is held once, even if another process joins before the commit is repeated', async () => {
    const { direct, store, network } = await openProxiedStore();
    network.strike({ ...lostCommit, meanwhile: async () => (await takeShared(direct))[Symbol.asyncDispose]() });
    const held = await takeShared(store);
    expect(network.isSpent()).toBe(true);
    await held[Symbol.asyncDispose]();
    await using _free = await takeFree(direct);
  });

  it('is free when the call has ended before it could read what was committed', async () => {
    const { direct, store, network } = await openProxiedStore();
    const controller = new AbortController();
    const meanwhile = async () => controller.abort(deadlineExceeded());
    const unread = { method: 'GetDocument', isForwarded: false, status: 13 } as const;
    network.strike(lostCommit, { ...unsentCommit, status: 10, meanwhile }, unread);
    const taken = takeShared(store, controller.signal);
    await expect(taken).rejects.toThrow();
    expect(network.isSpent()).toBe(true);
    await using _free = await takeFree(direct);
  });
});

describeWithFirestore('a decision whose responses get lost', () => {
  it('leaves no lock behind when the response to its first read is lost', async (context) => {
    const { direct, store, network } = await openProxiedStore();
    await direct.commit([createUser('counter', { sequence: 1 })]);
    network.strike(lostRead);
    await store.transaction(async ({ getMany, write }) => {
      const [user] = await getMany([userKey('counter')]);
      if (user?.state === undefined) await direct.commit([setState('counter', 'changed by another')]);
      write([{ type: 'update', key: userKey('counter'), fields: { sequence: (user?.sequence ?? 0) + 1 } }]);
    });
    expect(network.isSpent()).toBe(true);
    expect(await readUser(direct, 'counter')).toMatchObject({ sequence: 2, state: 'changed by another' });
    survived(context, 'response to a read is lost', 'Firestore', 1);
  });

  it('leaves no lock behind when it never ends', async (context) => {
    const { direct, store } = await openProxiedStore();
    await direct.commit([createUser('a')]);
    const hasRead = Promise.withResolvers<void>();
    void store.transaction(async ({ getMany }) => {
      await getMany([userKey('a')]);
      hasRead.resolve();
      await new Promise(() => {});
    });
    await hasRead.promise;
    await direct.commit([setState('a', 'free')]);
    expect(await readUser(direct, 'a')).toMatchObject({ state: 'free' });
    survived(context, 'response to a read is lost', 'Firestore', 1);
  });

  const aborted = { ...unsentCommit, status: 10 };
  const times = async (count: number, work: () => Promise<unknown>) => {
    for (let done = 0; done < count; done++) await work();
  };

  type Row = readonly [what: string, faults: (direct: Store) => readonly CallFault[], stored: number];
  /** The faults of the commits of an increment of 1, and the number that is stored in the end. */
  const faults: readonly Row[] = [
    ['when the database commits and answers nothing', () => [lostCommit], 2],
    ...[4, 8, 13, 14].flatMap((status): Row[] => [
      [`when the database commits and answers status ${status}`, () => [{ ...lostCommit, status }], 2],
      [`when it answers status ${status} without having committed`, () => [{ ...aborted, status }, unsentCommit], 2],
    ]),
    [
      'when the repeated commit is aborted again and again',
      () => [lostCommit, ...Array<CallFault>(9).fill(aborted)],
      2,
    ],
    [
      'when another writer changes the document, and the commit was not applied',
      (direct) => [{ ...unsentCommit, meanwhile: () => increment(direct) }],
      3,
    ],
    ...[1, 5].map(
      (changes): Row => [
        `when others change the document ${changes} times after the commit`,
        (direct) => [{ ...lostCommit, meanwhile: () => times(changes, () => increment(direct)) }],
        2 + changes,
      ],
    ),
  ];
  it.for(faults)('commits once %s', async ([_what, faultsOf, stored], context) => {
    const { direct, store, network } = await openProxiedStore();
    await direct.commit([createUser('counter', { sequence: 1 })]);
    vi.spyOn(Math, 'random').mockReturnValue(0.02);
    onTestFinished(() => void vi.restoreAllMocks());
    network.strike(...faultsOf(direct));
    await increment(store);
    expect(network.isSpent()).toBe(true);
    expect(await readUser(direct, 'counter')).toMatchObject({ sequence: stored });
    survived(context, 'response to a commit is lost', 'Firestore', 1);
  });

  it('recognises its commit at the deadline, if the repeated one is still aborted', async () => {
    const { direct, store, network } = await openProxiedStore();
    await direct.commit([createUser('counter', { sequence: 1 })]);
    network.strike(lostCommit, ...Array.from({ length: 1_000 }, () => aborted));
    const controller = new AbortController();
    const incremented = increment(store.forCall({ signal: controller.signal }));
    await vi.waitUntil(() => network.calls('Commit') > 3, { timeout: 30_000 });
    controller.abort(deadlineExceeded());
    await incremented;
    expect(await readUser(direct, 'counter')).toMatchObject({ sequence: 2 });
  });

  const keys = [userKey('a'), userKey('b')];
  /** Deletes two documents with a fault, and returns the states of the first one that the transaction has read. */
  async function deleteBoth(faultOf: (direct: Store) => CallFault) {
    const { direct, store, network } = await openProxiedStore();
    await direct.commit([createUser('a'), createUser('b')]);
    network.strike(faultOf(direct));
    const seen: unknown[] = [];
    await store.transaction(async ({ getMany, write }) => {
      const [a] = await getMany(keys);
      seen.push(a?.state);
      write(keys.map((key) => ({ type: 'delete', key })));
    });
    return { seen, left: await direct.getMany(keys, ['state']) };
  }

  it('commits deletes alone when the response is lost', async () => {
    expect((await deleteBoth(() => lostCommit)).left).toEqual([undefined, undefined]);
  });

  it('recognises its deletes after another writer has created one of the documents again', async () => {
    const create = (direct: Store) => () => direct.commit([createUser('a', { state: 'new' })]);
    const { left } = await deleteBoth((direct) => ({ ...lostCommit, meanwhile: create(direct) }));
    expect(left).toEqual([expect.objectContaining({ state: 'new' }), undefined]);
  });

  it('does not mistake the commit of another writer for its own', async () => {
    const { direct, store, network } = await openProxiedStore();
    await direct.commit([createUser('taken')]);
    network.strike(unsentCommit);
    await expect(store.commit([createUser('free'), createUser('taken')])).rejects.toThrow(WriteConflictError);
    expect(await readUser(direct, 'free')).toBeUndefined();
  });

  it('removes a factor with 200 when the response to its commit is lost, and rejects the next removal with 404', async (context) => {
    const { direct, store, network } = await openProxiedStore();
    const remove = await servedRemoval(direct, store);
    network.strike(lostRead, lostCommit);
    expect(await remove()).toBe(200);
    expect(network.isSpent()).toBe(true);
    expect((await readUser(direct, 'ada'))?.otpEmail).toBeUndefined();
    expect(await remove()).toBe(404);
    survived(context, 'response to a read is lost', 'Firestore', 1);
    survived(context, 'response to a commit is lost', 'Firestore', 1);
  });

  it('recognises the creation of a document that another writer has changed since', async () => {
    const { direct, store, network } = await openProxiedStore();
    network.strike({ ...lostCommit, meanwhile: () => direct.commit([setState('new', 'changed')]) });
    await store.commit([createUser('new')]);
    expect(network.isSpent()).toBe(true);
    expect(await readUser(direct, 'new')).toMatchObject({ state: 'changed' });
  });

  it('does not treat deletes as applied if another writer has changed one of the documents', async () => {
    const change = (direct: Store) => () =>
      direct.commit([setState('a', 'changed'), { type: 'delete', key: userKey('b') }]);
    const { seen, left } = await deleteBoth((direct) => ({ ...unsentCommit, meanwhile: change(direct) }));
    expect([seen, left]).toEqual([
      [undefined, 'changed'],
      [undefined, undefined],
    ]);
  });

  it('removes a factor with 200 when the response is lost while another writer changes the user', async () => {
    const { direct, store, network } = await openProxiedStore();
    const remove = await servedRemoval(direct, store);
    network.strike({ ...lostCommit, meanwhile: () => direct.commit([setState('ada', 'USER_STATE_ACTIVE')]) });
    expect(await remove()).toBe(200);
    expect(network.isSpent()).toBe(true);
    expect(await readUser(direct, 'ada')).toMatchObject({ state: 'USER_STATE_ACTIVE' });
    expect((await readUser(direct, 'ada'))?.otpEmail).toBeUndefined();
    expect(await remove()).toBe(404);
  });

  const meanwhileChanged = { type: 'human_user', reason: 'changed_meanwhile' };
  const batches: readonly (readonly [outcome: string, isForwarded: boolean, summary: object, reasons: object[]])[] = [
    ['of what it has overwritten, when the response is lost', true, { overwritten: { humanUsers: 2 } }, []],
    ['when its own commit was not applied', false, { failed: { humanUsers: 2 } }, [meanwhileChanged, meanwhileChanged]],
  ];
  it.for(batches)("an import keeps another writer's change of a batch %s", async ([_when, isForwarded, ...outcome]) => {
    const { direct, store, network } = await openProxiedStore();
    const names = ['ada', 'ben'];
    const fields = { state: 'USER_STATE_ACTIVE', changedAt: new Date().toISOString() };
    const meanwhile = () => direct.commit(names.map((name) => ({ type: 'update', key: userKey(name), fields })));
    const fault = { method: 'Commit', isForwarded, meanwhile } as const;
    let faults: CallFault[] = [];
    const hooked = hookedStore(store, async (writes) => {
      if (writes.some(({ key }) => key.collection === 'users')) network.strike(...faults.splice(0));
    });
    const instance = await testInstance(direct, 'test', { store: hooked });
    const file = (humanUsers: readonly object[]) => ({ data_orgs: { orgs: [organisation('north', { humanUsers })] } });
    await instance.import(file(names.map((name) => person(name))));
    faults = [fault];
    const locked = names.map((name) => ({ ...person(name), state: 'USER_STATE_LOCKED' }));
    const { reasons, summary } = await instance.import({ ...file(locked), on_conflict: 'overwrite' });
    expect([faults, network.isSpent()]).toEqual([[], true]);
    const [counts, expected] = outcome;
    expect(summary).toMatchObject(counts);
    expect(reasons).toMatchObject(expected);
    for (const name of names) expect(await readUser(direct, name)).toMatchObject(fields);
  });

  it('imports a batch of new and changed records with the outcome of an undisturbed import', async (context) => {
    const { direct, store, network } = await openProxiedStore();
    const instance = await testInstance(direct, 'test', { store });
    const people = (names: readonly string[]) => [
      organisation('north', { humanUsers: names.map((name) => person(name)) }),
    ];
    await instance.import({ data_orgs: { orgs: people(['ada']) } });
    network.strike(lostCommit, lostCommit, lostCommit, lostCommit);
    const { errors, summary } = await instance.import({ data_orgs: { orgs: people(['ada', 'ben', 'cleo']) } });
    expect(network.isSpent()).toBe(true);
    expect(errors).toBeUndefined();
    expect(summary).toMatchObject({ created: { humanUsers: 2 }, unchanged: { humanUsers: 1 } });
    survived(context, 'response to a commit is lost', 'Firestore', 4);
  });
});
