import { z } from 'zod';
import { createSerialQueue } from '../async.ts';
import { openTemporaryDatabase } from '../collections/temporaryDatabase.ts';
import { type DocumentFields, documentFieldTypes, type FieldName, fieldNames, setField } from './documentFields.ts';
import { temporaryKeyring } from './secrets/keyring.ts';
import { sealFields, unsealFields } from './secrets/sealedFields.ts';
import {
  type Advice,
  type Collection,
  type DocumentChanges,
  type DocumentKey,
  type DocumentStore,
  documentPath,
  type Snapshot,
  type Store,
  type StoredDocument,
  type Transaction,
  type Write,
  WriteConflictError,
} from './store.ts';

/** A writable layer above a store, which never changes the store. The caller must dispose of the layer. */
export interface Overlay extends DocumentStore, AsyncDisposable {}

export const trialAdvice = (): Advice => ({
  records: 250,
  writes: Number.POSITIVE_INFINITY,
  inFlight: 1,
  snapshotMs: Number.POSITIVE_INFINITY,
  creationMs: () => 0,
});

/**
 * Opens a writable layer above a snapshot of a store's present state. Writes go to a temporary file. A read returns the
 * written document from this file or, if there is none, the document of the snapshot.
 * @param collectionsWithBody in these collections, written documents keep the field `body`. In other collections, the
 * layer omits `body`, because it is the largest field
 */
export async function openOverlay(store: Store, collectionsWithBody: ReadonlySet<Collection>): Promise<Overlay> {
  const base = await store.snapshot();
  const layer = openLayer(collectionsWithBody);
  const enqueue = createSerialQueue();
  const getMany: DocumentStore['getMany'] = (keys, fields) => readThrough(layer, base, keys, fields);
  return {
    getMany,
    commit: (writes) => enqueue(() => apply(layer, base, writes)),
    transaction: (work) =>
      enqueue(async () => {
        const writes: Write[] = [];
        const transaction: Transaction = {
          getMany,
          write: (added) => void writes.push(...added),
          hold: () => {},
          record: () => {},
          changedAfter: () => new Map(),
        };
        const result = await work(transaction, []);
        await apply(layer, base, writes);
        return result;
      }),
    [Symbol.asyncDispose]: async () => {
      layer.close();
      await base[Symbol.asyncDispose]();
    },
  };
}

async function readThrough(
  layer: Layer,
  base: Snapshot,
  keys: readonly DocumentKey[],
  fields: readonly FieldName[] = fieldNames,
): Promise<(StoredDocument | undefined)[]> {
  if (layer.isEmpty()) return await base.getMany(keys, fields);
  const written = keys.map((key) => layer.read(key));
  const unwritten = keys.filter((_key, index) => written[index] === undefined);
  const baseDocuments = (unwritten.length === 0 ? [] : await base.getMany(unwritten, fields))[Symbol.iterator]();
  return keys.map((key, index) => {
    const document = written[index];
    if (document === undefined) return baseDocuments.next().value;
    return document === null ? undefined : { id: key.id, ...pick(document, fields) };
  });
}

/** Checks all preconditions before the first write, so that it applies either all writes or none. */
async function apply(layer: Layer, base: Snapshot, writes: readonly Write[]): Promise<void> {
  const keys = writes.map(({ key }) => key);
  const existing = await readThrough(layer, base, keys);
  const changed = new Map<string, { readonly key: DocumentKey; readonly fields: DocumentFields | null }>();
  for (const [index, key] of keys.entries()) changed.set(documentPath(key), { key, fields: existing[index] ?? null });
  for (const write of writes) {
    const path = documentPath(write.key);
    const current = changed.get(path)?.fields ?? null;
    if (write.type !== 'delete' && (write.type === 'create') !== (current === null))
      throw new WriteConflictError(`${write.type} of ${path}`);
    const fields = write.type === 'delete' ? null : pick({ ...current, ...write.fields }, fieldNames);
    changed.set(path, { key: write.key, fields });
  }
  for (const { key, fields } of changed.values()) layer.write(key, fields);
}

function pick(fields: DocumentChanges, names: readonly FieldName[]): DocumentFields {
  return Object.fromEntries(names.flatMap((name) => (fields[name] == null ? [] : [[name, fields[name]]])));
}

interface Layer {
  isEmpty(): boolean;
  /**
   * Returns the fields of a document if they were written to this layer: `null` if the document was deleted;
   * `undefined` if the layer has no change, so that the snapshot's document applies.
   */
  read(key: DocumentKey): DocumentFields | null | undefined;
  /** Replaces a document. Pass `null` to mark the document as deleted. */
  write(key: DocumentKey, fields: DocumentFields | null): void;
  close(): void;
}

const withoutBody = fieldNames.filter((name) => name !== 'body');

/**
 * Opens the temporary file for written documents. Encrypts the documents' secrets with a key that exists only in this
 * process, because the blocks of a deleted file can be recovered from the disk.
 */
function openLayer(collectionsWithBody: ReadonlySet<Collection>): Layer {
  const keyring = temporaryKeyring();
  const database = openTemporaryDatabase(
    'CREATE TABLE documents (path TEXT PRIMARY KEY, fields TEXT) STRICT, WITHOUT ROWID',
  );
  const select = database.prepare('SELECT fields FROM documents WHERE path = ?');
  const replace = database.prepare('REPLACE INTO documents (path, fields) VALUES (?, ?)');
  let isEmpty = true;
  return {
    isEmpty: () => isEmpty,
    read: (key) => {
      const row = select.get(documentPath(key));
      if (row === undefined) return undefined;
      return typeof row.fields === 'string' ? unsealFields(parseFields(key.id, row.fields), key, keyring) : null;
    },
    write: (key, fields) => {
      isEmpty = false;
      const kept = fields && pick(fields, collectionsWithBody.has(key.collection) ? fieldNames : withoutBody);
      const sealed = kept && JSON.stringify(sealFields(kept, key, keyring.newest()));
      replace.run(documentPath(key), sealed);
    },
    close: () => database.close(),
  };
}

const storedJson = z.record(z.string(), z.unknown());

function parseFields(id: string, json: string): StoredDocument {
  const document = { id };
  for (const [name, value] of Object.entries(storedJson.parse(JSON.parse(json)))) {
    if (isFieldName(name)) setField(document, name, value);
  }
  return document;
}

function isFieldName(name: string): name is FieldName {
  return name in documentFieldTypes;
}
