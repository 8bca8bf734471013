import { z } from 'zod';
import { databaseFormatUnsupported } from '../errors/errors.ts';
import { type DocumentKey, type Reader, type Store, type StoredDocument, storeForCall } from './store.ts';

/**
 * The format of databases that this version reads and writes. The instance's document has it, and an embedded database
 * also in its file. A number is never used again; `docs/decisions/0012-formats-of-databases.md` says how the next one is added.
 */
export const FORMAT = 5;

/** The key of the document that describes the instance; `identity init` writes it once. */
export const instanceKey: DocumentKey = { collection: 'instance', id: 'instance' };

/** The body of the instance's document, as far as it concerns the format. */
const instanceBody = z.object({ format: z.number().optional() });

/**
 * Checks the format in the instance's document.
 * @param instance undefined before `identity init`: a database without an instance has no other format
 * @throws IdentityError UNAVAILABLE
 */
export function requireInstanceFormat(instance: StoredDocument | undefined): void {
  if (instance === undefined) return;
  const { format } = instanceBody.parse(JSON.parse(instance.body ?? '{}'));
  if (format !== FORMAT) throw databaseFormatUnsupported(format, FORMAT);
}

/**
 * Reads the instance's document, and checks the format in it.
 * @throws IdentityError UNAVAILABLE
 */
export async function checkFormat(reader: Reader): Promise<void> {
  const [instance] = await reader.getMany([instanceKey], ['body']);
  requireInstanceFormat(instance);
}

/** The milliseconds for which a process relies on what it has read of the whole database: its format, and its master key. */
export const CHECK_INTERVAL_MILLISECONDS = 60_000;

/**
 * Rejects every operation on a database of another format. Reads the instance's document at the first operation, and
 * again each minute, because another version may migrate the database while this one runs.
 */
export function guardFormat(store: Store): Store {
  return guard(store, { checkedAt: Number.NEGATIVE_INFINITY });
}

/** @param state shared by the store and the stores of its calls */
function guard(store: Store, state: { checkedAt: number }): Store {
  const check = async () => {
    if (performance.now() - state.checkedAt < CHECK_INTERVAL_MILLISECONDS) return;
    const startedAt = performance.now();
    await checkFormat(store);
    state.checkedAt = startedAt;
  };
  // Reads run beside the check: their results are dropped if it fails.
  const beside = async <Result>(read: Promise<Result>): Promise<Result> => (await Promise.all([read, check()]))[0];
  const { lastingSnapshot } = store;
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
    ...(lastingSnapshot && { lastingSnapshot: (signal, readTime) => beside(lastingSnapshot(signal, readTime)) }),
    ...(store.forCall && { forCall: (call) => guard(storeForCall(store, call), state) }),
  };
}
