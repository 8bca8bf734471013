import { expect, it, onTestFinished } from 'vitest';
import { connectFirestore } from '../../../shared/store/firestore/firestoreConnection.ts';
import { openLastingSnapshot } from '../../../shared/store/firestore/snapshot.ts';
import { describeWithFirestore, firestoreEmulator } from '../../support/emulators/withFirestore.ts';
import { startGrpcProxy } from '../../support/http/grpcProxy.ts';
import { createUser, scanAll, userKey } from '../../support/stores/documents.ts';
import { firestore, openTestStore } from '../../support/stores/stores.ts';

const never = new AbortController().signal;
const INVALID_ARGUMENT = 3;
const FAILED_PRECONDITION = 9;
const PERMISSION_DENIED = 7;

/** Opens a store, and a connection to its database over which a call can fail. */
async function openBoth() {
  const location = await firestore.newLocation();
  if (location.kind !== 'firestore') throw new Error('no database of Firestore');
  const network = await startGrpcProxy(firestoreEmulator ?? '');
  const connection = connectFirestore(location, network.address);
  onTestFinished(async () => {
    await connection.client.close();
    await network.close();
  });
  return { store: await openTestStore(firestore, location), connection, network };
}

describeWithFirestore('a lasting snapshot', () => {
  it('has everything that was committed before it, nothing later, and the time of a whole interval', async () => {
    const { store, connection } = await openBoth();
    await store.commit([createUser('before')]);
    await using present = await store.snapshot();
    const opening = openLastingSnapshot(connection, never, 1_000);
    const opened = await opening;
    if (opened === undefined) throw new Error('no snapshot');
    await using snapshot = opened;
    await store.commit([createUser('after')]);
    expect(snapshot.readTime.getTime() % 1_000).toBe(0);
    expect(snapshot.readTime.getTime()).toBeGreaterThanOrEqual(present.readTime.getTime());
    const { documents } = await scanAll(snapshot, { collection: 'users', fields: [] });
    expect(documents).toEqual([userKey('before')].map(({ id }) => ({ id })));
    expect(await snapshot.getMany([userKey('after')])).toEqual([undefined]);
  });

  it('is offered by a store that is opened by its location', async () => {
    const controller = new AbortController();
    const { lastingSnapshot } = await openTestStore(firestore);
    controller.abort(new Error('the client left'));
    await expect(lastingSnapshot?.(controller.signal)).rejects.toThrow('the client left');
  });

  it.each([INVALID_ARGUMENT, FAILED_PRECONDITION])(
    'is not opened without point-in-time recovery, whose absence status %i indicates',
    async (status) => {
      const { connection, network } = await openBoth();
      network.strike({ method: 'BatchGetDocuments', isForwarded: false, status });
      expect(await openLastingSnapshot(connection, never, 1_000)).toBeUndefined();
      expect(network.isSpent()).toBe(true);
    },
  );

  it('fails with any other error of the database', async () => {
    const { connection, network } = await openBoth();
    network.strike({ method: 'BatchGetDocuments', isForwarded: false, status: PERMISSION_DENIED });
    await expect(openLastingSnapshot(connection, never, 1_000)).rejects.toThrow('database error: PERMISSION_DENIED');
  });

  it('is not awaited once the call has ended', async () => {
    const { connection } = await openBoth();
    const controller = new AbortController();
    const reason = new Error('the client left');
    const opening = openLastingSnapshot(connection, controller.signal, 3_600_000);
    controller.abort(reason);
    await expect(opening).rejects.toBe(reason);
  });
});
