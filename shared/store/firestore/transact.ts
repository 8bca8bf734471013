import { createSerialQueue } from '../../async.ts';
import { retry } from '../../retry.ts';
import type { Store, Transaction, Write } from '../store.ts';
import { commit } from './commit.ts';
import type { FirestoreConnection, TransactionId } from './connection.ts';
import { type ReadState, readMany } from './readMany.ts';
import { contentionPolicy } from './status.ts';

/**
 * Creates the store's method `transaction`. Retries aborted transactions one at a time: concurrent retries would
 * contend for the same locks, and each collision lasts seconds.
 */
export function createTransact(connection: FirestoreConnection): Store['transaction'] {
  const enqueue = createSerialQueue();
  return async (work) => {
    const attempt = createAttempt(connection, work);
    try {
      return await attempt();
    } catch (reason) {
      if (!contentionPolicy.isTransient(reason)) throw reason;
      return enqueue(() => retry(contentionPolicy, attempt));
    }
  };
}

function createAttempt<Result>(connection: FirestoreConnection, work: (transaction: Transaction) => Promise<Result>) {
  let aborted: TransactionId | undefined;
  return async (): Promise<Result> => {
    const attempt = begin(connection, aborted);
    try {
      const result = await work(attempt.transaction);
      await commit(connection, attempt.writes, await attempt.id());
      return result;
    } catch (reason) {
      aborted = await rollBack(connection, attempt);
      throw reason;
    }
  };
}

interface Attempt {
  readonly transaction: Transaction;
  readonly writes: readonly Write[];
  /** Resolves to the transaction's id; `undefined` before the first read, which begins the transaction. */
  id(): Promise<TransactionId | undefined>;
}

function begin(connection: FirestoreConnection, retryTransaction: TransactionId | undefined): Attempt {
  const writes: Write[] = [];
  const readWrite = retryTransaction === undefined ? {} : { retryTransaction };
  let state: Promise<ReadState> = Promise.resolve({ newTransaction: { readWrite } });
  const getMany: Transaction['getMany'] = async (keys, fields) => {
    const reading = state.then((current) => readMany(connection, keys, fields, current));
    state = reading.then((result) => result.state);
    // The caller of `getMany` receives the error; this only prevents an unhandled rejection.
    state.catch(() => undefined);
    return (await reading).documents;
  };
  const write = (added: readonly Write[]) => {
    for (const entry of added) writes.push(entry);
  };
  return { transaction: { getMany, write }, writes, id: async () => (await state).transaction ?? undefined };
}

// A failed rollback is harmless: the server expires an unfinished transaction by itself.
async function rollBack({ client, database, options }: FirestoreConnection, attempt: Attempt) {
  const id = await attempt.id().catch(() => undefined);
  if (id !== undefined) await client.rollback({ database, transaction: id }, options).catch(() => undefined);
  return id;
}
