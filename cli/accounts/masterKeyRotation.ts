import { setTimeout } from 'node:timers/promises';
import { defined } from '../../shared/defined.ts';
import { callVersion, changeDate, withCallVersion } from '../../shared/store/lastChange.ts';
import { scanInPasses } from '../../shared/store/passes.ts';
import {
  type KeyRecord,
  keyRecordKey,
  keyRecordWrite,
  readKeyRecord,
  requireKeys,
  settleKeys,
} from '../../shared/store/secrets/keyRecord.ts';
import { earlierKeyPath, type Keyring } from '../../shared/store/secrets/keyring.ts';
import type { MasterKey } from '../../shared/store/secrets/masterKey.ts';
import {
  hasOutdatedSecret,
  resealFields,
  sealedNames,
  secretCollections,
} from '../../shared/store/secrets/sealedFields.ts';
import {
  type Collection,
  type DocumentKey,
  documentPath,
  type Store,
  type Write,
  WriteConflictError,
} from '../../shared/store/store.ts';

export interface RekeyOptions {
  readonly signal: AbortSignal;
  /** Called with a progress text before the rotation waits for `fenceMs`. */
  readonly onStep: (name: string) => void;
  readonly onResealed?: (documents: number) => void;
  /**
   * How long other processes may still encrypt with an earlier key after the new key is stored, in milliseconds. 0 if
   * the database accepts only commits of processes with the current key.
   */
  readonly fenceMs: number;
}

export interface Rekeyed {
  readonly keyId: string;
  readonly documents: number;
  /** The replaced keys. Only backups from before the rotation still need these keys. */
  readonly earlierKeys: readonly EarlierKey[];
}

interface EarlierKey {
  readonly id: string;
  /** The file that contains the key; absent if the key comes from an environment variable. */
  readonly file?: string;
}

/**
 * Encrypts all secrets of a database with the newest key, while other processes may use the database. If the keys are
 * in a file, adds a new key, unless an interrupted rotation has already added it. If the keys are in an environment
 * variable, the operator must list the new key before the earlier keys. The database accepts the earlier keys until all
 * secrets are encrypted with the newest key.
 * @throws IdentityError UNAVAILABLE if a key of the database is missing; the signal's reason if the signal aborts
 */
export async function rekey(store: Store, keyring: Keyring, options: RekeyOptions): Promise<Rekeyed> {
  const settled = await settleKeys(store, keyring);
  const earlier = requireKeys(settled, keyring);
  const [newest = earlier, ...others] = keyring.keys();
  const isAtRest = others.length === 0 && newest.id === earlier.id && settled.ids.length === 1;
  const target = isAtRest && keyring.isWritable ? keyring.add() : newest;
  const record = await changeRecord(store, ({ ids }) => [target.id, ...ids.filter((id) => id !== target.id)]);
  requireKeys(record, keyring);
  if (record.ids.length > 1 && options.fenceMs > 0) {
    options.onStep(`waiting ${Math.ceil(options.fenceMs / 1_000)} seconds for all processes to use the new key`);
    await setTimeout(options.fenceMs, undefined, { signal: options.signal });
  }
  let documents = 0;
  for (const collection of secretCollections) documents += await reseal(store, collection, target, keyring, options);
  await changeRecord(store, () => [target.id]);
  if (keyring.isWritable) keyring.retain([target.id]);
  const { file } = keyring;
  const earlierKeys = record.ids
    .filter((id) => id !== target.id)
    .map((id) => ({ id, ...defined({ file: file && earlierKeyPath(file, id) }) }));
  return { keyId: target.id, documents, earlierKeys };
}

function changeRecord(store: Store, change: (record: KeyRecord) => KeyRecord['ids']): Promise<KeyRecord> {
  return store.transaction(async (transaction) => {
    const stored = await readKeyRecord(transaction);
    if (stored === undefined) throw new WriteConflictError(`${keyRecordKey.id} is missing`);
    const record: KeyRecord = { ...stored, ids: change(stored) };
    transaction.write([keyRecordWrite(record, 'update')]);
    return record;
  });
}

const DOCUMENTS_PER_COMMIT = 250;

/**
 * Encrypts the secrets of a collection with the target key, unless that key already encrypts them. Returns the number
 * of changed documents.
 */
async function reseal(
  store: Store,
  collection: Collection,
  target: MasterKey,
  keyring: Keyring,
  { signal, onResealed }: RekeyOptions,
): Promise<number> {
  let changed = 0;
  for await (const documents of scanInPasses(store, { collection, fields: sealedNames })) {
    const outdated = documents.filter((document) => hasOutdatedSecret(document, target.id));
    for (let start = 0; start < outdated.length; start += DOCUMENTS_PER_COMMIT) {
      signal.throwIfAborted();
      const keys = outdated.slice(start, start + DOCUMENTS_PER_COMMIT).map(({ id }) => ({ collection, id }));
      const resealed = await resealDocuments(store, keys, target, keyring);
      changed += resealed;
      onResealed?.(resealed);
    }
  }
  return changed;
}

function resealDocuments(
  store: Store,
  keys: readonly DocumentKey[],
  target: MasterKey,
  keyring: Keyring,
): Promise<number> {
  return store.transaction(async (transaction) => {
    const stored = await transaction.getMany(keys, [...sealedNames, 'changedAt']);
    const versions = transaction.changedAfter('');
    const writes = keys.flatMap((key, index): Write[] => {
      const document = stored[index];
      if (document === undefined || !hasOutdatedSecret(document, target.id)) return [];
      // The rotation changes only the encryption. A running import compares the version in `changedAt` to recognise
      // changes of other calls. So `changedAt` keeps the version of the last real change, which the import then does
      // not overwrite.
      const version = callVersion(document, versions.get(documentPath(key)));
      const kept =
        document.changedAt === undefined ? {} : { changedAt: withCallVersion(changeDate(document), version) };
      return [{ type: 'update', key, fields: { ...resealFields(document, key, target, keyring), ...kept } }];
    });
    transaction.write(writes);
    return writes.length;
  });
}
