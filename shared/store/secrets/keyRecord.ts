// The record of a database's master keys, and the guards that check it before operations.

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

/** The key of the document that contains the ids of the database's master keys. */
export const keyRecordKey: DocumentKey = { collection: 'instance', id: documentId('master keys') };

const keyRecord = z.object({
  /**
   * The ids of the master keys with which values in the database may be encrypted. New values are encrypted with the
   * first.
   */
  ids: z.tuple([z.string()], z.string()),
});

/**
 * The ids of a database's master keys. An id is derived from its key, so it shows whether a given key is the right one.
 */
export type KeyRecord = z.infer<typeof keyRecord>;

/** Reads the ids of the database's master keys. Returns undefined if the database has never contained a secret. */
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
 * Returns the master key for writes. Requires that the keyring contains all keys of the database.
 * @throws IdentityError UNAVAILABLE for a missing or wrong key
 */
export function requireKeys({ ids: [current, ...earlier] }: KeyRecord, keyring: Keyring): MasterKey {
  for (const id of earlier) keyring.require(id);
  return keyring.require(current);
}

/**
 * Returns the ids of the database's keys. If the database has no keys yet, stores the id of the keyring's newest key.
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

/** The documents of a database, without the checks of its guard. */
type UnguardedDocuments = Pick<DocumentStore, 'getMany' | 'commit'>;

/**
 * Checks a database before operations, and returns the key that encrypts new values, which `identity rekey` may change.
 */
export interface DatabaseGuard {
  readonly keyring: Keyring;
  /**
   * Checks the database's format, and that the keyring contains the database's keys. Runs in parallel with each
   * operation.
   * @returns undefined if no check is needed
   * @throws IdentityError UNAVAILABLE for another format, and for a missing or wrong key
   */
  check(reader: Reader): Promise<void> | undefined;
  /** Returns the key for the writes of a transaction. */
  writingKey(store: UnguardedDocuments, transaction: Transaction): Promise<MasterKey>;
}

/**
 * Creates the guard of an embedded database. Opening the database checks its format and keys, and each transaction
 * checks the format again. In each transaction that writes a secret, the guard reads the key's id. The commit fails if
 * the id has changed. Therefore no value is encrypted with an earlier key after a rotation.
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

/** How long a process trusts the database's format and master key after reading them. */
const KEY_CHECK_INTERVAL_MS = 60_000;

/**
 * The time after which no process uses an earlier key. A process uses a key for up to a minute after reading the key's
 * id. It may then still finish a commit that has begun.
 */
export const KEY_FENCE_MS = KEY_CHECK_INTERVAL_MS + 15_000;

/**
 * Creates the guard of a database on a server. It checks the database at the first operation and then once a minute.
 * While this process runs, another version may migrate the database, or `identity rekey` may change its keys. Checking
 * in every commit would be too slow in Cloud Firestore. The first secret of a database determines the database's key.
 */
export function sharedGuard(keyring: Keyring): DatabaseGuard {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let current: MasterKey | undefined;
  const checkAgain = async (reader: Reader) => {
    const startedAt = performance.now();
    const [instance, keys] = await reader.getMany([instanceKey, keyRecordKey], ['body']);
    requireInstanceFormat(instance);
    const record = parseKeyRecord(keys);
    // A process without keys neither reads nor writes secrets, so its keys need no check.
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
