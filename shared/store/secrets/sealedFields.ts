import { type DocumentFields, type FieldName, fieldNames, sealedForms } from '../documentFields.ts';
import { type Collection, type DocumentChanges, type DocumentKey, documentPath, type Write } from '../store.ts';
import type { Keyring } from './keyring.ts';
import type { MasterKey } from './masterKey.ts';
import { seal, sealingKeyId, unseal } from './seal.ts';

type SecretName = keyof typeof sealedForms;

/** A secret's field, and the field of its encrypted form. */
export interface Secret {
  readonly name: SecretName;
  readonly sealedName: (typeof sealedForms)[SecretName];
}

const secrets: readonly Secret[] = [
  { name: 'totpSeed', sealedName: sealedForms.totpSeed },
  { name: 'clientSecret', sealedName: sealedForms.clientSecret },
];

/** The collections whose documents have secrets. */
export const secretCollections: readonly Collection[] = ['users', 'identityProviders'];

/** The encrypted forms of all secrets. */
export const storedSecretFields: readonly FieldName[] = secrets.map(({ sealedName }) => sealedName);

/** Whether a document, read as it is stored, has a secret that another key has encrypted. */
export function hasOutdatedSecret(document: DocumentFields, keyId: string): boolean {
  return secrets.some((secret) => isOutdated(document, secret, keyId));
}

function isOutdated(document: DocumentFields, { sealedName }: Secret, keyId: string): boolean {
  const sealed = document[sealedName];
  return sealed !== undefined && sealingKeyId(sealed) !== keyId;
}

/** Encrypts the outdated secrets of a document, read as it is stored, with a key. */
export function resealFields(
  document: DocumentFields,
  key: DocumentKey,
  masterKey: MasterKey,
  keyring: Keyring,
): DocumentChanges {
  const outdated = secrets.filter((secret) => isOutdated(document, secret, masterKey.id));
  const opened = unsealDocument(document, key, outdated, keyring);
  return Object.assign(
    {},
    ...outdated.map(({ name, sealedName }) => ({
      [sealedName]: seal(masterKey, opened[name] ?? '', place(key, name)),
    })),
  );
}

/** Lists the secrets that a read of these fields decrypts. Whoever reads an encrypted form gets both fields as stored. */
export function decryptedSecrets(fields: readonly FieldName[] = fieldNames): readonly Secret[] {
  return secrets.filter(({ name, sealedName }) => fields.includes(name) && !fields.includes(sealedName));
}

/** Lists the fields to read for a read that decrypts these secrets. */
export function fieldsWithSealed(
  fields: readonly FieldName[] = fieldNames,
  decrypted: readonly Secret[],
): readonly FieldName[] {
  return [...fields, ...decrypted.map(({ sealedName }) => sealedName)];
}

type MutableFields = { -readonly [Name in FieldName]?: DocumentFields[Name] };

/** Decrypts a document's secrets. */
export function unsealDocument<Document extends DocumentFields>(
  document: Document,
  key: DocumentKey,
  decrypted: readonly Secret[],
  keyring: Keyring,
): Document {
  if (decrypted.every(({ sealedName }) => document[sealedName] === undefined)) return document;
  const opened: Document & MutableFields = { ...document };
  for (const { name, sealedName } of decrypted) {
    const sealed = opened[sealedName];
    delete opened[sealedName];
    if (sealed !== undefined) opened[name] = unseal(keyring, sealed, place(key, name));
  }
  return opened;
}

/** Whether a commit has secrets to encrypt. */
export function haveSecrets(writes: readonly Write[]): boolean {
  return writes.some(
    (write) => write.type !== 'delete' && secrets.some(({ name }) => write.fields[name] !== undefined),
  );
}

/** Encrypts the secrets of a commit. */
export function sealWrites(writes: readonly Write[], key: MasterKey): readonly Write[] {
  return writes.map((write) => {
    if (write.type === 'delete') return write;
    return write.type === 'create'
      ? { ...write, fields: sealFields(write.fields, write.key, key) }
      : { ...write, fields: sealChanges(write.fields, write.key, key) };
  });
}

/** Encrypts the secrets of a document. */
export function sealFields(fields: DocumentFields, document: DocumentKey, key: MasterKey): DocumentFields {
  let sealed = fields;
  for (const { name, sealedName } of secrets) {
    const { [name]: text, ...rest } = sealed;
    if (text !== undefined) sealed = { ...rest, [sealedName]: seal(key, text, place(document, name)) };
  }
  return sealed;
}

/** Encrypts the changed secrets of a document. */
function sealChanges(fields: DocumentChanges, document: DocumentKey, key: MasterKey): DocumentChanges {
  let sealed = fields;
  for (const { name, sealedName } of secrets) {
    const { [name]: text, ...rest } = sealed;
    if (text === undefined) continue;
    sealed = { ...rest, [sealedName]: text === null ? null : seal(key, text, place(document, name)) };
  }
  return sealed;
}

function place(document: DocumentKey, name: SecretName): string {
  return `${name} of ${documentPath(document)}`;
}
