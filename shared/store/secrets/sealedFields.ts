// Encrypts and decrypts secrets between operations and the database.

import { type DocumentFields, type FieldName, secrets } from '../documentFields.ts';
import {
  type Collection,
  type DocumentChanges,
  type DocumentKey,
  documentPath,
  type StoredDocument,
  type Write,
} from '../store.ts';
import type { Keyring } from './keyring.ts';
import { type MasterKey, seal, sealingKeyId, unseal } from './masterKey.ts';

const sealedLists = new WeakMap<readonly FieldName[], readonly FieldName[]>();

/**
 * Returns the names of the stored fields: replaces secrets with their encrypted forms. Returns the same list if it
 * contains no secrets, and always the same result for the same list, because databases cache prepared reads by list.
 */
export function sealedFieldNames(fields: readonly FieldName[]): readonly FieldName[] {
  const known = sealedLists.get(fields);
  if (known !== undefined) return known;
  const sealed = secrets.some(({ name }) => fields.includes(name))
    ? fields.map((field) => secrets.find(({ name }) => name === field)?.sealedName ?? field)
    : fields;
  sealedLists.set(fields, sealed);
  return sealed;
}

/** Decrypts a document's secrets. */
export function unsealFields(document: StoredDocument, key: DocumentKey, keyring: Keyring): StoredDocument;
export function unsealFields(document: DocumentFields, key: DocumentKey, keyring: Keyring): DocumentFields;
export function unsealFields(document: DocumentFields, key: DocumentKey, keyring: Keyring): DocumentFields {
  let opened = document;
  for (const { name, sealedName } of secrets) {
    const sealed = opened[sealedName];
    if (sealed === undefined) continue;
    const { [sealedName]: _, ...rest } = opened;
    opened = { ...rest, [name]: unseal(keyring, sealed, bindingOf(key, name)) };
  }
  return opened;
}

/** Whether a write contains unencrypted secrets. */
export function hasSecrets(write: Write): boolean {
  if (write.type === 'delete') return false;
  for (const { name } of secrets) if (write.fields[name] !== undefined) return true;
  return false;
}

/** Encrypts the secrets of writes. */
export function sealWrites(writes: readonly Write[], key: MasterKey): readonly Write[] {
  return writes.map((write) => {
    if (write.type === 'delete' || !hasSecrets(write)) return write;
    return write.type === 'create'
      ? { ...write, fields: sealFields(write.fields, write.key, key) }
      : { ...write, fields: sealFields(write.fields, write.key, key) };
  });
}

/** Encrypts the secrets of a document; secrets to remove stay `null`. */
export function sealFields(fields: DocumentFields, document: DocumentKey, key: MasterKey): DocumentFields;
export function sealFields(fields: DocumentChanges, document: DocumentKey, key: MasterKey): DocumentChanges;
export function sealFields(fields: DocumentChanges, document: DocumentKey, key: MasterKey): DocumentChanges {
  let sealed = fields;
  for (const { name, sealedName } of secrets) {
    const text = sealed[name];
    if (text === undefined) continue;
    const { [name]: _, ...rest } = sealed;
    sealed = { ...rest, [sealedName]: text === null ? null : seal(key, text, bindingOf(document, name)) };
  }
  return sealed;
}

function bindingOf(document: DocumentKey, name: (typeof secrets)[number]['name']): string {
  return `${name} of ${documentPath(document)}`;
}

/** The collections whose documents have secrets. */
export const secretCollections: readonly Collection[] = ['users', 'identityProviders'];

/** The fields with the encrypted forms of all secrets. A read of these fields does not decrypt them. */
export const sealedNames: readonly FieldName[] = secrets.map(({ sealedName }) => sealedName);

/** Whether a document has a secret that another key encrypted. The document must have been read without decryption. */
export function hasOutdatedSecret(document: DocumentFields, keyId: string): boolean {
  return secrets.some(({ sealedName }) => {
    const sealed = document[sealedName];
    return sealed !== undefined && sealingKeyId(sealed) !== keyId;
  });
}

/** Encrypts the secrets of a document with another key. The document must have been read without decryption. */
export function resealFields(
  { id: _id, ...stored }: StoredDocument,
  key: DocumentKey,
  masterKey: MasterKey,
  keyring: Keyring,
): DocumentFields {
  return sealFields(unsealFields(stored, key, keyring), key, masterKey);
}
