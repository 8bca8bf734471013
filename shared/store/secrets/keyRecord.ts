import { z } from 'zod';
import { type DocumentKey, documentId, type Reader, type StoredDocument, type Write } from '../store.ts';
import type { Keyring } from './keyring.ts';
import type { MasterKey } from './masterKey.ts';

/** The key of the document that names the database's master keys. */
export const keyRecordKey: DocumentKey = { collection: 'instance', id: documentId('master keys') };

const keyRecord = z.object({
  /** The ids of the keys that values may be encrypted with; writers use the first one. */
  ids: z.tuple([z.string()], z.string()),
});

/** The master keys of a database, by their ids. Ids are derived from the keys, so they tell the right ones from others. */
export type KeyRecord = z.infer<typeof keyRecord>;

/** Reads the record; undefined before a database's first secret. */
export async function readKeyRecord(reader: Reader): Promise<KeyRecord | undefined> {
  const [stored] = await reader.getMany([keyRecordKey], ['body']);
  return parseKeyRecord(stored);
}

/** Parses the stored record. */
export function parseKeyRecord(stored: StoredDocument | undefined): KeyRecord | undefined {
  return stored?.body === undefined ? undefined : keyRecord.parse(JSON.parse(stored.body));
}

/** Creates the write that stores a record. */
export function keyRecordWrite(record: KeyRecord, type: 'create' | 'update'): Write {
  return { type, key: keyRecordKey, fields: { body: JSON.stringify(record) } };
}

/**
 * Returns the key to write with, after a check that all keys of the database are given.
 * @throws IdentityError UNAVAILABLE for a missing or wrong key
 */
export function requireKeys({ ids: [current, ...earlier] }: KeyRecord, keyring: Keyring): MasterKey {
  for (const id of earlier) keyring.require(id);
  return keyring.require(current);
}
