// Encryption of secrets on their way into a store.

import { type DocumentFields, type FieldName, fieldNames, secrets } from '../documentFields.ts';
import {
  type Collection,
  type DocumentChanges,
  type DocumentKey,
  documentPath,
  type EveryMember,
  type Reader,
  type ScanRange,
  type Snapshot,
  type Store,
  type StoredDocument,
  type Transaction,
  type TransactionWork,
  type UnsealedStore,
  type Write,
} from '../store.ts';
import type { DatabaseGuard } from './keyRecord.ts';
import type { Keyring } from './keyring.ts';
import { type MasterKey, seal, sealingKeyId, unseal } from './masterKey.ts';

/**
 * Encrypts secrets in writes and decrypts them in reads, also in snapshots and transactions, and checks the database. Reads
 * of other fields have no overhead. Without keys, only reads and writes of secrets fail.
 */
export function sealStore({ unsealed: store }: UnsealedStore, guard: DatabaseGuard): Store {
  const { keyring, check, writingKey } = guard;
  // Reads run in parallel with the check. Their results are discarded if it fails.
  const beside = async <Result>(read: Promise<Result>): Promise<Result> =>
    (await Promise.all([read, check?.(store)]))[0];
  const transaction: Store['transaction'] = async <Result>(work: TransactionWork<Result>, until?: AbortSignal) => {
    await check?.(store);
    return store.transaction<Result>(async (inner, earlier) => {
      const writes: Write[] = [];
      const write: Transaction['write'] = (added) => {
        for (const one of added) writes.push(one);
      };
      const { hold, record, changedAfter } = inner;
      const getMany = unsealingReads(inner, keyring);
      const result = await work({ getMany, write, hold, record, changedAfter }, earlier);
      inner.write(writes.some(hasSecrets) ? sealWrites(writes, await writingKey(store, inner)) : writes);
      return result;
    }, until);
  };
  const getMany = unsealingReads(store, keyring);
  const { forCall, durable, commitsInFlight, recordsPerCommit, snapshotLifetimeMs, trail, lock } = store;
  const sealed: EveryMember = {
    getMany: check === undefined ? getMany : (keys, fields) => beside(getMany(keys, fields)),
    snapshot: async () => unsealSnapshot(await beside(store.snapshot()), keyring),
    commit: async (writes) => {
      if (writes.some(hasSecrets)) return transaction(async ({ write }) => write(writes));
      await check?.(store);
      return store.commit(writes);
    },
    transaction,
    forCall: forCall && ((call) => sealStore({ unsealed: forCall(call) }, guard)),
    durable,
    commitsInFlight,
    recordsPerCommit,
    snapshotLifetimeMs,
    trail,
    lock,
    close: () => store.close(),
  };
  return sealed;
}

function unsealingReads(reader: Reader, keyring: Keyring): Reader['getMany'] {
  return async (keys, fields = fieldNames) => {
    const stored = sealedFieldNames(fields);
    const documents = await reader.getMany(keys, stored);
    if (stored === fields) return documents;
    return documents.map((document, index) => {
      const key = keys[index];
      return document && key && unsealFields(document, key, keyring);
    });
  };
}

function unsealSnapshot(snapshot: Snapshot, keyring: Keyring): Snapshot {
  return {
    readTime: snapshot.readTime,
    getMany: unsealingReads(snapshot, keyring),
    scan: (range) => {
      const { fields = fieldNames } = range;
      const stored = sealedFieldNames(fields);
      return stored === fields ? snapshot.scan(range) : unsealScan(snapshot, { ...range, fields: stored }, keyring);
    },
    [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
  };
}

async function* unsealScan(
  snapshot: Snapshot,
  range: ScanRange,
  keyring: Keyring,
): AsyncGenerator<readonly StoredDocument[]> {
  const { collection } = range;
  for await (const documents of snapshot.scan(range))
    yield documents.map((document) => unsealFields(document, { collection, id: document.id }, keyring));
}

/** Returns the stored fields for some fields: encrypted forms replace secrets; the same list without secrets. */
function sealedFieldNames(fields: readonly FieldName[]): readonly FieldName[] {
  if (!secrets.some(({ name }) => fields.includes(name))) return fields;
  return fields.map((field) => secrets.find(({ name }) => name === field)?.sealedName ?? field);
}

/** Decrypts a document's secrets. */
export function unsealFields<Document extends DocumentFields>(
  document: Document,
  key: DocumentKey,
  keyring: Keyring,
): Document {
  if (secrets.every(({ sealedName }) => document[sealedName] === undefined)) return document;
  const opened: Document & { -readonly [Name in FieldName]?: DocumentFields[Name] } = { ...document };
  for (const { name, sealedName } of secrets) {
    const sealed = opened[sealedName];
    delete opened[sealedName];
    if (sealed !== undefined) opened[name] = unseal(keyring, sealed, bindingOf(key, name));
  }
  return opened;
}

function hasSecrets(write: Write): boolean {
  return write.type !== 'delete' && secrets.some(({ name }) => write.fields[name] !== undefined);
}

function sealWrites(writes: readonly Write[], key: MasterKey): readonly Write[] {
  return writes.map((write) => {
    if (write.type === 'delete' || !hasSecrets(write)) return write;
    return write.type === 'create'
      ? { ...write, fields: sealFields(write.fields, write.key, key) }
      : { ...write, fields: sealFields(write.fields, write.key, key) };
  });
}

/** Encrypts the secrets of a document; those to remove stay `null`. */
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

/** The fields of the encrypted forms of all secrets. Reads return them as they are stored. */
export const sealedNames: readonly FieldName[] = secrets.map(({ sealedName }) => sealedName);

/** Whether a document, read as it is stored, has a secret that another key has encrypted. */
export function hasOutdatedSecret(document: DocumentFields, keyId: string): boolean {
  return secrets.some(({ sealedName }) => {
    const sealed = document[sealedName];
    return sealed !== undefined && sealingKeyId(sealed) !== keyId;
  });
}

/** Encrypts the secrets of a document, read as it is stored, with another key. */
export function resealFields(
  { id: _id, ...stored }: StoredDocument,
  key: DocumentKey,
  masterKey: MasterKey,
  keyring: Keyring,
): DocumentFields {
  return sealFields(unsealFields(stored, key, keyring), key, masterKey);
}
