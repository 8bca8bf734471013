import { decorateStore, type Store, type TransactionWork } from '../../../shared/store/store.ts';

/** The moment of an event: before or after the commit with this number, counted from 0. */
export interface Moment {
  readonly commit: number;
  readonly when: 'before' | 'after';
}

/** Returns a store with an event at one of its commits, such as another writer's change, or the end of the process. */
export function interruptedStore(store: Store, moment: Moment, happens: () => Promise<void>): Store {
  let commits = 0;
  const around = async <Result>(work: (interrupt: () => Promise<void>) => Promise<Result>): Promise<Result> => {
    const isMoment = commits++ === moment.commit;
    let hasHappened = !isMoment;
    const interrupt = async () => {
      if (hasHappened) return;
      hasHappened = true;
      await happens();
    };
    const result = await work(moment.when === 'before' ? interrupt : async () => {});
    await interrupt();
    return result;
  };
  return decorateStore(store, (inner) => ({
    commit: (writes) =>
      around(async (interrupt) => {
        await interrupt();
        await inner.commit(writes);
      }),
    // The event occurs once, after all reads. A retry of the transaction is not interrupted again.
    transaction: <Result>(work: TransactionWork<Result>, until?: AbortSignal) =>
      around((interrupt) =>
        inner.transaction<Result>(async (transaction, earlier) => {
          const result = await work(transaction, earlier);
          await interrupt();
          return result;
        }, until),
      ),
  }));
}
