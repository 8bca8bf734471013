import { storeUnavailable } from '../../../shared/errors/storeErrors.ts';
import {
  documentPath,
  type Snapshot,
  type Store,
  type Transaction,
  type TransactionWork,
  type Write,
  WriteConflictError,
} from '../../../shared/store/store.ts';
import { withSmallCommits } from '../../support/stores/watchedStore.ts';
import { Injection, type InjectionPlan } from './injection.ts';

/** The operations of a store that can fail; `scan` is each array of a snapshot's scan. */
export type StoreOperation = 'commit' | 'transaction' | 'getMany' | 'snapshot' | 'scan';

/** A store, and the faults between it and its user. */
export interface FaultyStore {
  readonly store: Store;
  readonly injection: Injection<StoreOperation>;
}

/**
 * Puts faults in front of a store. A commit without writes reaches no database, so it never fails; a commit without
 * creations can be sent twice without a conflict.
 */
export function faultyStore(store: Store, plan: InjectionPlan<StoreOperation>): FaultyStore {
  const injection = new Injection<StoreOperation>(plan, {
    failure: () => storeUnavailable({}, { cause: new Error('injected') }),
    conflict: () => new WriteConflictError('injected'),
  });
  const spares = (writes: readonly Write[]) =>
    writes.length === 0 || (plan.kind === 'conflicts' && writes.every(({ type }) => type !== 'create'));
  // Every write is a transaction, except the creation of new records.
  const committing = plan.kind === 'conflicts' ? 'commit' : 'transaction';
  const faulty = withSmallCommits(store, (inner) => ({
    commit: (writes) =>
      spares(writes) ? inner.commit(writes) : injection.around(committing, () => inner.commit(writes)),
    transaction:
      plan.kind === 'conflicts'
        ? conflictingTransaction(inner, (writes, result) =>
            spares(writes) ? result() : injection.around('commit', result),
          )
        : (work, until) => injection.around('transaction', () => inner.transaction(work, until)),
    getMany: (keys, fields) => injection.around('getMany', () => inner.getMany(keys, fields)),
    snapshot: () => injection.around('snapshot', async () => faultySnapshot(await inner.snapshot(), injection)),
  }));
  return { store: faulty, injection };
}

/**
 * A transaction may report a conflict although its commit was applied, if it changed no document that it had read: otherwise
 * the store detects the change, and decides again.
 */
function conflictingTransaction(
  store: Store,
  strike: <Result>(writes: readonly Write[], result: () => Promise<Result>) => Promise<Result>,
): Store['transaction'] {
  return async <Result>(work: TransactionWork<Result>, until?: AbortSignal) => {
    const read = new Set<string>();
    const writes: Write[] = [];
    const result = await store.transaction<Result>(async (transaction, earlier) => {
      read.clear();
      writes.length = 0;
      const striking: Transaction = {
        ...transaction,
        getMany: (keys, fields) => {
          for (const key of keys) read.add(documentPath(key));
          return transaction.getMany(keys, fields);
        },
        write: (some) => {
          writes.push(...some);
          transaction.write(some);
        },
      };
      return work(striking, earlier);
    }, until);
    const unread = writes.every(({ key }) => !read.has(documentPath(key)));
    return unread ? strike(writes, async () => result) : result;
  };
}

function faultySnapshot(snapshot: Snapshot, injection: Injection<StoreOperation>): Snapshot {
  return {
    readTime: snapshot.readTime,
    getMany: (keys, fields) => snapshot.getMany(keys, fields),
    async *scan(range) {
      for await (const documents of snapshot.scan(range)) yield await injection.around('scan', async () => documents);
    },
    [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
  };
}
