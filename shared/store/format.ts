import { z } from 'zod';
import { databaseTooNew } from '../errors/errors.ts';
import { log } from '../log.ts';
import { type DocumentKey, documentId, type Reader, type Store, storeForCall } from './store.ts';

/**
 * The format of databases that this version writes. The instance's document has it, and an embedded database also in its
 * file. `migrations.ts` leads from each older format to the next.
 */
export const FORMAT = 4;

/** The key of the document that describes the instance; `identity init` writes it once. */
export const instanceKey: DocumentKey = { collection: 'instance', id: 'instance' };

/** The key of the document with the progress of an unfinished upgrade, or the result of the last one. */
export const upgradeKey: DocumentKey = { collection: 'instance', id: documentId('upgrade') };

/** The body of the instance's document, as far as it concerns the format. Version 0.1.0 stored none. */
export const instanceBody = z.looseObject({
  format: z.number().default(1),
  /** The format with which an unfinished upgrade began; documents of that form may still exist. */
  migratedFrom: z.number().optional(),
});

/** The format of a database; undefined before `identity init`. */
export type InstanceFormat = z.infer<typeof instanceBody> | undefined;

/** Reads the database's format from the instance's document. */
export async function readInstanceFormat(reader: Reader): Promise<InstanceFormat> {
  const [instance] = await reader.getMany([instanceKey], ['body']);
  return instance === undefined ? undefined : instanceBody.parse(JSON.parse(instance.body ?? '{}'));
}

/** Whether documents of an older form may exist, because no upgrade has finished since an older version wrote them. */
export function isOutdated(format: InstanceFormat): boolean {
  return format !== undefined && (format.format < FORMAT || format.migratedFrom !== undefined);
}

/** @throws IdentityError UNAVAILABLE for a format that this version does not know */
export function rejectNewerFormat(format: InstanceFormat): void {
  if (format !== undefined && format.format > FORMAT) throw databaseTooNew(format.format, FORMAT);
}

/** The milliseconds for which a process relies on the format that it has read. */
export const CHECK_INTERVAL_MILLISECONDS = 60_000;

/**
 * Rejects every operation on a database of a newer format. Reads the instance's document at the first operation, and
 * again each minute, because a newer version may migrate the database while this one runs.
 */
export function guardFormat(store: Store): Store {
  return guard(store, { checkedAt: Number.NEGATIVE_INFINITY, hasWarned: false });
}

/** @param state shared by the store and the stores of its calls */
function guard(store: Store, state: { checkedAt: number; hasWarned: boolean }): Store {
  const check = async () => {
    if (performance.now() - state.checkedAt < CHECK_INTERVAL_MILLISECONDS) return;
    const startedAt = performance.now();
    const found = await readInstanceFormat(store);
    rejectNewerFormat(found);
    if (isOutdated(found) && !state.hasWarned) log.databaseOutdated();
    state.hasWarned ||= isOutdated(found);
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
