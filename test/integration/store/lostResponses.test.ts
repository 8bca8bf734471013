import { expect, it, onTestFinished, vi } from 'vitest';
import { routes } from '../../../functions/removeOtpEmail/app.ts';
import { enableOtpEmail } from '../../../shared/accounts/users.ts';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import { createApp } from '../../../shared/http/app.ts';
import { serve } from '../../../shared/http/serve.ts';
import { type Store, storeForCall, WriteConflictError } from '../../../shared/store/store.ts';
import { survived } from '../../faults/support/survived.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { describeWithFirestore } from '../../support/emulators/withFirestore.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import type { CallFault } from '../../support/http/grpcProxy.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { createUser, readUser, userKey } from '../../support/stores/documents.ts';
import { hookedStore } from '../../support/stores/hookedStore.ts';
import { openProxiedStore } from '../../support/stores/proxiedStore.ts';

const lostCommit = { method: 'Commit', isForwarded: true } as const;
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

  const answers: readonly (readonly [answer: string, fault: CallFault])[] = [
    ['nothing', lostCommit],
    ['DEADLINE_EXCEEDED', { ...lostCommit, status: 4 }],
    ['RESOURCE_EXHAUSTED', { ...lostCommit, status: 8 }],
    ['INTERNAL', { ...lostCommit, status: 13 }],
    ['UNAVAILABLE', { ...lostCommit, status: 14 }],
  ];
  it.for(answers)('commits once when the database commits and answers %s', async ([_answer, fault], context) => {
    const { direct, store, network } = await openProxiedStore();
    await direct.commit([createUser('counter', { sequence: 1 })]);
    network.strike(fault);
    await increment(store);
    expect(network.isSpent()).toBe(true);
    expect(await readUser(direct, 'counter')).toMatchObject({ sequence: 2 });
    survived(context, 'response to a commit is lost', 'Firestore', 1);
  });

  it.each([4, 8, 13, 14])('commits when the database answers status %i without having committed', async (status) => {
    const { direct, store, network } = await openProxiedStore();
    await direct.commit([createUser('counter', { sequence: 1 })]);
    network.strike({ method: 'Commit', isForwarded: false, status }, { method: 'Commit', isForwarded: false });
    await increment(store);
    expect(network.isSpent()).toBe(true);
    expect(await readUser(direct, 'counter')).toMatchObject({ sequence: 2 });
  });

  it('recognises its commit when the repeated one is aborted again and again', async () => {
    const { direct, store, network } = await openProxiedStore();
    await direct.commit([createUser('counter', { sequence: 1 })]);
    vi.spyOn(Math, 'random').mockReturnValue(0.02);
    onTestFinished(() => void vi.restoreAllMocks());
    const aborted = { method: 'Commit', isForwarded: false, status: 10 } as const;
    network.strike(lostCommit, ...Array.from({ length: 9 }, () => aborted));
    await increment(store);
    expect(network.isSpent()).toBe(true);
    expect(await readUser(direct, 'counter')).toMatchObject({ sequence: 2 });
  });

  it('recognises its commit at the deadline, when the repeated one is still aborted', async () => {
    const { direct, store, network } = await openProxiedStore();
    await direct.commit([createUser('counter', { sequence: 1 })]);
    const aborted = { method: 'Commit', isForwarded: false, status: 10 } as const;
    network.strike(lostCommit, ...Array.from({ length: 1_000 }, () => aborted));
    const controller = new AbortController();
    const incremented = increment(storeForCall(store, { signal: controller.signal }));
    await vi.waitUntil(() => network.calls('Commit') > 3, { timeout: 30_000 });
    controller.abort(deadlineExceeded());
    await incremented;
    expect(await readUser(direct, 'counter')).toMatchObject({ sequence: 2 });
  });

  it('commits deletes alone when the response is lost', async () => {
    const { direct, store, network } = await openProxiedStore();
    await direct.commit([createUser('a'), createUser('b')]);
    network.strike(lostCommit);
    const keys = [userKey('a'), userKey('b')];
    await store.transaction(async ({ getMany, write }) => {
      await getMany(keys);
      write(keys.map((key) => ({ type: 'delete', key })));
    });
    expect(await direct.getMany(keys, [])).toEqual([undefined, undefined]);
  });

  it('does not take the commit of another writer for its own', async () => {
    const { direct, store, network } = await openProxiedStore();
    await direct.commit([createUser('taken')]);
    network.strike({ method: 'Commit', isForwarded: false });
    await expect(store.commit([createUser('free'), createUser('taken')])).rejects.toThrow(WriteConflictError);
    expect(await readUser(direct, 'free')).toBeUndefined();
  });

  it('removes a factor with 200 when the response to its commit is lost, and answers the next removal with 404', async (context) => {
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

  it('does not take a commit for applied that was lost, where another writer has changed its document since', async () => {
    const { direct, store, network } = await openProxiedStore();
    await direct.commit([createUser('counter', { sequence: 1 })]);
    network.strike({ method: 'Commit', isForwarded: false, meanwhile: () => increment(direct) });
    await increment(store);
    expect(network.isSpent()).toBe(true);
    expect(await readUser(direct, 'counter')).toMatchObject({ sequence: 3 });
  });

  it.each([1, 5])('recognises its commit after %i changes of its document by others', async (changes) => {
    const { direct, store, network } = await openProxiedStore();
    await direct.commit([createUser('counter', { sequence: 1 })]);
    const meanwhile = async () => {
      for (let change = 0; change < changes; change++) await increment(direct);
    };
    network.strike({ ...lostCommit, meanwhile });
    await increment(store);
    expect(network.isSpent()).toBe(true);
    expect(await readUser(direct, 'counter')).toMatchObject({ sequence: 2 + changes });
  });

  it('recognises the creation of a document that another writer has changed since', async () => {
    const { direct, store, network } = await openProxiedStore();
    network.strike({ ...lostCommit, meanwhile: () => direct.commit([setState('new', 'changed')]) });
    await store.commit([createUser('new')]);
    expect(network.isSpent()).toBe(true);
    expect(await readUser(direct, 'new')).toMatchObject({ state: 'changed' });
  });

  it('recognises its deletes after another writer has created one of the documents again', async () => {
    const { direct, store, network } = await openProxiedStore();
    const keys = [userKey('a'), userKey('b')];
    await direct.commit([createUser('a'), createUser('b')]);
    network.strike({ ...lostCommit, meanwhile: () => direct.commit([createUser('a', { state: 'new' })]) });
    await store.transaction(async ({ getMany, write }) => {
      await getMany(keys);
      write(keys.map((key) => ({ type: 'delete', key })));
    });
    expect(await direct.getMany(keys, ['state'])).toEqual([expect.objectContaining({ state: 'new' }), undefined]);
  });

  it('does not take deletes for applied where another writer has changed one of the documents', async () => {
    const { direct, store, network } = await openProxiedStore();
    const keys = [userKey('a'), userKey('b')];
    await direct.commit([createUser('a'), createUser('b')]);
    const meanwhile = () => direct.commit([setState('a', 'changed'), { type: 'delete', key: userKey('b') }]);
    network.strike({ method: 'Commit', isForwarded: false, meanwhile });
    const seen: unknown[] = [];
    await store.transaction(async ({ getMany, write }) => {
      const [a] = await getMany(keys);
      seen.push(a?.state);
      write(keys.map((key) => ({ type: 'delete', key })));
    });
    expect(seen).toEqual([undefined, 'changed']);
    expect(await direct.getMany(keys, [])).toEqual([undefined, undefined]);
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

  const batches: readonly (readonly [outcome: string, isForwarded: boolean, state: string])[] = [
    ["keeps another writer's change of what it has overwritten, when the response is lost", true, 'USER_STATE_ACTIVE'],
    ["overwrites another writer's change, when its own commit was not applied", false, 'USER_STATE_LOCKED'],
  ];
  it.for(batches)("an import's batch %s", async ([_outcome, isForwarded, state]) => {
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
    const { errors, summary } = await instance.import({ ...file(locked), on_conflict: 'overwrite' });
    expect([faults, network.isSpent()]).toEqual([[], true]);
    expect(errors).toBeUndefined();
    expect(summary).toMatchObject({ overwritten: { humanUsers: 2 } });
    for (const name of names) expect(await readUser(direct, name)).toMatchObject({ state });
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
