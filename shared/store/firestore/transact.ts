import { createSerialQueue } from '../../async.ts';
import { retry } from '../../retry.ts';
import type { Store, Transaction, Write } from '../store.ts';
import { commit } from './commit.ts';
import type { FirestoreConnection, TransactionId } from './connection.ts';
import { type ReadState, readMany } from './readMany.ts';
import { contentionPolicy } from './status.ts';

/**
 * Makes the store's method `transaction`. Those that lost against another writer are tried again one at a time: together
 * they would only take each other's locks once more, and each such collision lasts seconds.
 */
export function createTransact(connection: FirestoreConnection): Store['transaction'] {
  const inTurn = createSerialQueue();
  return async (work) => {
    const attempt = createAttempt(connection, work);
    try {
      return await attempt();
    } catch (reason) {
      if (!contentionPolicy.isTransient(reason)) throw reason;
      return inTurn(() => retry(contentionPolicy, attempt));
    }
  };
}

function createAttempt<Result>(connection: FirestoreConnection, work: (transaction: Transaction) => Promise<Result>) {
  let lost: TransactionId | undefined;
  return async (): Promise<Result> => {
    const attempt = begin(connection, lost);
    try {
      const result = await work(attempt.transaction);
      await commit(connection, attempt.writes, await attempt.id());
      return result;
    } catch (reason) {
      lost = await rollBack(connection, attempt);
      throw reason;
    }
  };
}

interface Attempt {
  readonly transaction: Transaction;
  readonly writes: readonly Write[];
  /** The transaction's id; `undefined` when nothing was read, since the first read begins it. */
  id(): Promise<TransactionId | undefined>;
}

function begin(connection: FirestoreConnection, retryTransaction: TransactionId | undefined): Attempt {
  const writes: Write[] = [];
  const readWrite = retryTransaction === undefined ? {} : { retryTransaction };
  let state: Promise<ReadState> = Promise.resolve({ newTransaction: { readWrite } });
  const getMany: Transaction['getMany'] = async (keys, fields) => {
    const reading = state.then((current) => readMany(connection, keys, fields, current));
    state = reading.then((result) => result.state);
    // Whoever awaits the read sees its failure; here it only must not count as unhandled.
    state.catch(() => undefined);
    return (await reading).documents;
  };
  const write = (added: readonly Write[]) => {
    for (const one of added) writes.push(one);
  };
  return { transaction: { getMany, write }, writes, id: async () => (await state).transaction ?? undefined };
}

// The server forgets an unfinished transaction by itself, so that it could not be told matters to nobody.
async function rollBack({ client, database, options }: FirestoreConnection, attempt: Attempt) {
  const id = await attempt.id().catch(() => undefined);
  if (id !== undefined) await client.rollback({ database, transaction: id }, options).catch(() => undefined);
  return id;
}
