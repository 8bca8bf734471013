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
 * Returns the names of the fields to read from the database: each secret is replaced by its encrypted form. For the
 * same list, always returns the same array, because databases cache prepared reads by the identity of this array. If
 * `fields` contains no secret, returns `fields` itself.
 */
export function sealedFieldNames(fields: readonly FieldName[]): readonly FieldName[] {
  const cachedNames = sealedLists.get(fields);
  if (cachedNames !== undefined) return cachedNames;
  const sealed = secrets.some(({ name }) => fields.includes(name))
    ? fields.map((field) => secrets.find(({ name }) => name === field)?.sealedName ?? field)
    : fields;
  sealedLists.set(fields, sealed);
  return sealed;
}

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

/** Returns whether a write sets secrets in clear text, or removes secrets. */
export function hasSecrets(write: Write): boolean {
  if (write.type === 'delete') return false;
  for (const { name } of secrets) if (write.fields[name] !== undefined) return true;
  return false;
}

export function sealWrites(writes: readonly Write[], key: MasterKey): readonly Write[] {
  return writes.map((write) => {
    if (write.type === 'delete' || !hasSecrets(write)) return write;
    return write.type === 'create'
      ? { ...write, fields: sealFields(write.fields, write.key, key) }
      : { ...write, fields: sealFields(write.fields, write.key, key) };
  });
}

/** Encrypts the secrets among the fields. A secret to remove, which is `null`, remains `null`. */
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

export const secretCollections: readonly Collection[] = ['users', 'identityProviders'];

/** The fields with the encrypted forms of all secrets. */
export const sealedNames: readonly FieldName[] = secrets.map(({ sealedName }) => sealedName);

/**
 * Returns whether a secret is encrypted with a master key whose id is not `keyId`. The caller must have read the
 * document with `sealedNames`.
 */
export function hasOutdatedSecret(document: DocumentFields, keyId: string): boolean {
  return secrets.some(({ sealedName }) => {
    const sealed = document[sealedName];
    return sealed !== undefined && sealingKeyId(sealed) !== keyId;
  });
}

/**
 * Decrypts the secrets of a document, and encrypts them with `masterKey`. The caller must have read the document with
 * `sealedNames`.
 */
export function resealFields(
  { id: _id, ...stored }: StoredDocument,
  key: DocumentKey,
  masterKey: MasterKey,
  keyring: Keyring,
): DocumentFields {
  return sealFields(unsealFields(stored, key, keyring), key, masterKey);
}
