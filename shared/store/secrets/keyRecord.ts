import { z } from 'zod';
import { instanceKey, requireInstanceFormat } from '../instance.ts';
import {
  type DocumentKey,
  type DocumentStore,
  documentId,
  type Reader,
  type StoredDocument,
  type Transaction,
  type Write,
  WriteConflictError,
} from '../store.ts';
import type { Keyring } from './keyring.ts';
import type { MasterKey } from './masterKey.ts';

export const keyRecordKey: DocumentKey = { collection: 'instance', id: documentId('master keys') };

const keyRecord = z.object({
  /**
   * The ids of the master keys with which values in the database may be encrypted. New values are encrypted with the
   * first of these keys.
   */
  ids: z.tuple([z.string()], z.string()),
});

/**
 * The ids of a database's master keys. An id is derived from its key, so a process can check by the id whether it has
 * the right key.
 */
export type KeyRecord = z.infer<typeof keyRecord>;

/** Undefined if the database has never contained a secret. */
export async function readKeyRecord(reader: Reader): Promise<KeyRecord | undefined> {
  const [stored] = await reader.getMany([keyRecordKey], ['body']);
  return parseKeyRecord(stored);
}

export function parseKeyRecord(stored: StoredDocument | undefined): KeyRecord | undefined {
  return stored?.body === undefined ? undefined : keyRecord.parse(JSON.parse(stored.body));
}

export function keyRecordWrite(record: KeyRecord, type: 'create' | 'update'): Write {
  return { type, key: keyRecordKey, fields: { body: JSON.stringify(record) } };
}

/**
 * Requires that the keyring contains all keys of the database.
 * @returns the master key for writes
 * @throws IdentityError UNAVAILABLE if a key is missing or wrong
 */
export function requireKeys({ ids: [current, ...earlier] }: KeyRecord, keyring: Keyring): MasterKey {
  for (const id of earlier) keyring.require(id);
  return keyring.require(current);
}

/**
 * Returns the ids of the database's master keys. If the database has none yet, stores the id of the keyring's newest
 * key.
 * @throws IdentityError UNAVAILABLE if the keyring has no key
 */
export async function settleKeys(store: UnguardedDocuments, keyring: Keyring): Promise<KeyRecord> {
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

type UnguardedDocuments = Pick<DocumentStore, 'getMany' | 'commit'>;

/**
 * Checks the format and the master keys of a database before operations, and supplies the key that encrypts new values.
 * `identity rekey` may change the key at any time.
 */
export interface DatabaseGuard {
  readonly keyring: Keyring;
  /**
   * Checks the database's format, and whether the keyring contains the database's keys. The store calls it for each
   * operation.
   * @returns undefined if no check is due
   * @throws IdentityError UNAVAILABLE if the database has another format, or if a key is missing or wrong
   */
  check(reader: Reader): Promise<void> | undefined;
  writingKey(store: UnguardedDocuments, transaction: Transaction): Promise<MasterKey>;
}

/**
 * Creates the guard of an embedded database. `openStore` has already checked the format and the keys, and each
 * transaction checks the format again. A transaction that writes a secret also reads the id of the current key, and its
 * commit fails if this id changes first. So after a rotation, no value is encrypted with an earlier key.
 */
export function embeddedGuard(keyring: Keyring): DatabaseGuard {
  return {
    keyring,
    check: () => undefined,
    writingKey: async (_store, transaction) => {
      const record = await readKeyRecord(transaction);
      if (record === undefined) throw new Error('the database does not contain the id of its master key');
      transaction.hold([keyRecordKey]);
      return requireKeys(record, keyring);
    },
  };
}

/** The milliseconds for which a process relies on a check of the format and the master key. */
const KEY_CHECK_INTERVAL_MS = 60_000;

/**
 * If this number of milliseconds has passed since a key rotation, no process uses an earlier key any more. A process
 * uses a key for up to a minute after a check, and may then finish a commit that it has begun.
 */
export const KEY_FENCE_MS = KEY_CHECK_INTERVAL_MS + 15_000;

/**
 * Creates the guard of a database in Cloud Firestore. It checks format and keys at the first operation, and then once a
 * minute, because both can change. Another version may migrate the database, and `identity rekey` may change the keys.
 * A check in every commit would be too slow in Cloud Firestore. If the database has no key yet, the guard stores the id
 * of a key when the first secret is written.
 */
export function sharedGuard(keyring: Keyring): DatabaseGuard {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let current: MasterKey | undefined;
  const checkAgain = async (reader: Reader) => {
    const startedAt = performance.now();
    const [instance, keys] = await reader.getMany([instanceKey, keyRecordKey], ['body']);
    requireInstanceFormat(instance);
    const record = parseKeyRecord(keys);
    // A process without keys neither reads nor writes secrets, so do not require keys in such a process.
    if (record !== undefined && !keyring.isEmpty) current = requireKeys(record, keyring);
    checkedAt = startedAt;
  };
  const check = (reader: Reader) =>
    performance.now() - checkedAt < KEY_CHECK_INTERVAL_MS ? undefined : checkAgain(reader);
  return {
    keyring,
    check,
    writingKey: async (store) => {
      await check(store);
      current ??= requireKeys(await settleKeys(store, keyring), keyring);
      return current;
    },
  };
}
