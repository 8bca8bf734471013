import { CHECK_INTERVAL_MILLISECONDS } from '../format.ts';
import { type Reader, type Store, type Transaction, WriteConflictError } from '../store.ts';
import { type KeyRecord, keyRecordKey, keyRecordWrite, readKeyRecord, requireKeys } from './keyRecord.ts';
import type { Keyring } from './keyring.ts';
import type { MasterKey } from './masterKey.ts';

/** The choice of the key that encrypts new values, which `identity rekey` changes while processes run. */
export interface WritingKey {
  /**
   * Checks that the database's keys are given; runs beside each operation. Undefined if they are checked already.
   * @throws IdentityError UNAVAILABLE for a missing or wrong key
   */
  readonly check?: (reader: Reader) => Promise<void>;
  /** Returns the key for the writes of a transaction. */
  find(store: Store, transaction: Transaction): Promise<MasterKey>;
}

/**
 * Reads the key's id in each transaction that writes a secret, and holds it until the commit: no value is encrypted with
 * an earlier key once another is current. The embedded database checks its keys when it is opened.
 */
export function heldWritingKey(keyring: Keyring): WritingKey {
  return {
    find: async (_store, transaction) => {
      const record = await readKeyRecord(transaction);
      if (record === undefined) throw new Error('the database does not name its master key');
      transaction.hold([keyRecordKey]);
      return requireKeys(record, keyring);
    },
  };
}

/**
 * Relies on the key for a minute: a document that every commit holds would be too slow in Cloud Firestore. The first
 * secret of a database settles its key.
 */
export function cachedWritingKey(keyring: Keyring): WritingKey {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let current: MasterKey | undefined;
  const check = async (reader: Reader) => {
    if (keyring.isEmpty || performance.now() - checkedAt < CHECK_INTERVAL_MILLISECONDS) return;
    const startedAt = performance.now();
    const record = await readKeyRecord(reader);
    current = record && requireKeys(record, keyring);
    checkedAt = startedAt;
  };
  return {
    check,
    find: async (store) => {
      await check(store);
      current ??= requireKeys(await settleKeys(store, keyring), keyring);
      return current;
    },
  };
}

/**
 * Returns the database's keys. A database without any gets the newest key.
 * @throws IdentityError UNAVAILABLE without a key
 */
export async function settleKeys(store: Store, keyring: Keyring): Promise<KeyRecord> {
  const stored = await readKeyRecord(store);
  if (stored !== undefined) return stored;
  const record: KeyRecord = { ids: [keyring.newest().id] };
  try {
    await store.commit([keyRecordWrite(record, 'create')]);
    return record;
  } catch (error) {
    if (!(error instanceof WriteConflictError)) throw error;
    return settleKeys(store, keyring);
  }
}
