import {
  type Reader,
  type ScanRange,
  type Snapshot,
  type Store,
  type StoredDocument,
  storeForCall,
  type Transaction,
  type Write,
} from '../store.ts';
import type { Keyring } from './keyring.ts';
import {
  decryptedSecrets,
  fieldsWithSealed,
  haveSecrets,
  type Secret,
  sealWrites,
  unsealDocument,
} from './sealedFields.ts';
import type { WritingKey } from './writingKey.ts';

/**
 * Encrypts secrets on their way into a database, and decrypts them on their way out, in snapshots and transactions too.
 * Reads of other fields cost nothing. Without keys, only reads and writes of secrets fail.
 */
export function sealStore(store: Store, keyring: Keyring, writingKey: WritingKey): Store {
  const { check } = writingKey;
  // Reads run beside the check: their results are dropped if it fails.
  const beside = async <Result>(read: Promise<Result>): Promise<Result> =>
    (await Promise.all([read, check?.(store)]))[0];
  const transaction: Store['transaction'] = async (work) => {
    await check?.(store);
    return store.transaction((inner) => runSealed(store, inner, keyring, writingKey, work));
  };
  const getMany = unsealingReads(store, keyring);
  const { lastingSnapshot } = store;
  return {
    ...store,
    getMany: check === undefined ? getMany : (keys, fields) => beside(getMany(keys, fields)),
    snapshot: async () => unsealSnapshot(await beside(store.snapshot()), keyring),
    commit: async (writes) => {
      if (haveSecrets(writes)) return transaction(async ({ write }) => write(writes));
      await check?.(store);
      return store.commit(writes);
    },
    transaction,
    close: () => store.close(),
    ...(lastingSnapshot && {
      lastingSnapshot: async (signal, readTime) => {
        const snapshot = await beside(lastingSnapshot(signal, readTime));
        return snapshot && unsealSnapshot(snapshot, keyring);
      },
    }),
    ...(store.forCall && { forCall: (call) => sealStore(storeForCall(store, call), keyring, writingKey) }),
  };
}

/** Runs a transaction's work, and encrypts the secrets of its writes with the key that is current then. */
async function runSealed<Result>(
  store: Store,
  inner: Transaction,
  keyring: Keyring,
  writingKey: WritingKey,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const writes: Write[] = [];
  const write: Transaction['write'] = (added) => {
    for (const one of added) writes.push(one);
  };
  const result = await work({ getMany: unsealingReads(inner, keyring), write, hold: (keys) => inner.hold(keys) });
  inner.write(haveSecrets(writes) ? sealWrites(writes, await writingKey.find(store, inner)) : writes);
  return result;
}

function unsealingReads(reader: Reader, keyring: Keyring): Reader['getMany'] {
  return async (keys, fields) => {
    const decrypted = decryptedSecrets(fields);
    if (decrypted.length === 0) return reader.getMany(keys, fields);
    const documents = await reader.getMany(keys, fieldsWithSealed(fields, decrypted));
    return documents.map((document, index) => {
      const key = keys[index];
      return document && key && unsealDocument(document, key, decrypted, keyring);
    });
  };
}

function unsealSnapshot(snapshot: Snapshot, keyring: Keyring): Snapshot {
  return {
    readTime: snapshot.readTime,
    getMany: unsealingReads(snapshot, keyring),
    scan: (range) => {
      const decrypted = decryptedSecrets(range.fields);
      return decrypted.length === 0 ? snapshot.scan(range) : unsealScan(snapshot, range, decrypted, keyring);
    },
    [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
  };
}

async function* unsealScan(
  snapshot: Snapshot,
  range: ScanRange,
  decrypted: readonly Secret[],
  keyring: Keyring,
): AsyncGenerator<readonly StoredDocument[]> {
  const { collection } = range;
  for await (const documents of snapshot.scan({ ...range, fields: fieldsWithSealed(range.fields, decrypted) }))
    yield documents.map((document) => unsealDocument(document, { collection, id: document.id }, decrypted, keyring));
}
