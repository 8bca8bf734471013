import { z } from 'zod';
import { databaseTooNew } from '../errors/errors.ts';
import { type DocumentKey, type Store, storeForCall } from './store.ts';

/**
 * The format of databases that this version writes. An embedded database has it in its file, one of Firestore in the
 * instance's document.
 */
export const FORMAT = 2;

/** The key of the document that describes the instance; `identity init` writes it once. */
export const instanceKey: DocumentKey = { collection: 'instance', id: 'instance' };

const formatSchema = z.object({ format: z.number().default(1) });

const CHECK_INTERVAL_MILLISECONDS = 60_000;

/**
 * Rejects every operation on a database of a newer format. Reads the instance's document at the first operation, and
 * again each minute, because a newer version may migrate the database while this one runs.
 */
export function guardFormat(store: Store): Store {
  return guard(store, { checkedAt: Number.NEGATIVE_INFINITY });
}

/** @param state shared by the store and the stores of its calls */
function guard(store: Store, state: { checkedAt: number }): Store {
  const check = async () => {
    if (performance.now() - state.checkedAt < CHECK_INTERVAL_MILLISECONDS) return;
    const [instance] = await store.getMany([instanceKey], ['body']);
    const { format } = formatSchema.parse(JSON.parse(instance?.body ?? '{}'));
    if (format > FORMAT) throw databaseTooNew(format, FORMAT);
    state.checkedAt = performance.now();
  };
  // Reads run beside the check: their results are dropped if it fails.
  const beside = async <Result>(read: Promise<Result>): Promise<Result> => (await Promise.all([read, check()]))[0];
  return {
    ...store,
    getMany: (keys, fields) => beside(store.getMany(keys, fields)),
    snapshot: () => beside(store.snapshot()),
    commit: async (writes) => {
      await check();
      await store.commit(writes);
    },
    transaction: async (work) => {
      await check();
      return store.transaction(work);
    },
    close: () => store.close(),
    forCall: (call) => guard(storeForCall(store, call), state),
  };
}
