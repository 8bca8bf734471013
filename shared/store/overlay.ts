import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { createSerialQueue } from '../async.ts';
import {
  type DocumentFields,
  documentFieldTypes,
  type FieldName,
  fieldNames,
  type MutableDocument,
  setField,
} from './documentFields.ts';
import { type Keyring, temporaryKeyring } from './secrets/keyring.ts';
import { decryptedSecrets, sealFields, unsealDocument } from './secrets/sealedFields.ts';
import {
  type Collection,
  type DocumentChanges,
  type DocumentKey,
  type DocumentStore,
  documentPath,
  type Snapshot,
  type Store,
  type StoredDocument,
  type Write,
  WriteConflictError,
} from './store.ts';

/** A writable layer on top of a store, which stays unchanged. The caller disposes of it. */
export interface Overlay extends DocumentStore, AsyncDisposable {}

const withoutBody = fieldNames.filter((name) => name !== 'body');

/**
 * Opens an overlay on a snapshot of a store, as a dry run needs it. Writes go to a temporary file. Reads prefer them to
 * the snapshot.
 * @param collectionsWithBody the collections whose written documents keep their `body`, the largest field
 */
export async function openOverlay(store: Store, collectionsWithBody: ReadonlySet<Collection>): Promise<Overlay> {
  const base = await store.snapshot();
  const layer = new Layer();
  const storedFields = (collection: Collection) => (collectionsWithBody.has(collection) ? fieldNames : withoutBody);
  const enqueue = createSerialQueue();
  const getMany: DocumentStore['getMany'] = (keys, fields) => readThrough(layer, base, keys, fields);
  return {
    getMany,
    commit: (writes) => enqueue(() => apply(layer, base, writes, storedFields)),
    transaction: (work) =>
      enqueue(async () => {
        const writes: Write[] = [];
        const result = await work({ getMany, write: (added) => void writes.push(...added), hold: () => {} });
        await apply(layer, base, writes, storedFields);
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
  const written = keys.map((key) => layer.read(key));
  const unwritten = keys.filter((_key, index) => written[index] === undefined);
  const found = (unwritten.length === 0 ? [] : await base.getMany(unwritten, fields))[Symbol.iterator]();
  return keys.map((key, index) => {
    const document = written[index];
    if (document === undefined) return found.next().value;
    return document === null ? undefined : { id: key.id, ...pick(document, fields) };
  });
}

type StoredFields = (collection: Collection) => readonly FieldName[];

async function apply(
  layer: Layer,
  base: Snapshot,
  writes: readonly Write[],
  storedFields: StoredFields,
): Promise<void> {
  const existing = await readThrough(
    layer,
    base,
    writes.map(({ key }) => key),
  );
  layer.atomically(() => {
    for (const [index, write] of writes.entries())
      applyWrite(layer, write, existing[index], storedFields(write.key.collection));
  });
}

/**
 * Applies one write of a commit.
 * @param existing the document before the commit, which earlier writes of it may have changed
 */
function applyWrite(
  layer: Layer,
  write: Write,
  existing: StoredDocument | undefined,
  names: readonly FieldName[],
): void {
  const written = layer.read(write.key);
  const current = written === undefined ? existing : (written ?? undefined);
  if (write.type === 'delete') {
    layer.write(write.key, null);
    return;
  }
  if ((write.type === 'create') !== (current === undefined))
    throw new WriteConflictError(`${write.type} of ${write.key.collection}/${write.key.id}`);
  layer.write(write.key, pick({ ...current, ...write.fields }, names));
}

function pick(fields: DocumentChanges, names: readonly FieldName[]): DocumentFields {
  return Object.fromEntries(names.flatMap((name) => (fields[name] == null ? [] : [[name, fields[name]]])));
}

/**
 * The documents written to an overlay. SQLite keeps them in an unnamed temporary file, which nobody else can open. Their
 * secrets are encrypted with a key that only this process has, because the disk may keep the file's blocks.
 */
class Layer {
  private readonly database = new DatabaseSync('');
  private readonly keyring: Keyring = temporaryKeyring();
  private readonly select;
  private readonly replace;

  constructor() {
    this.database.exec('CREATE TABLE documents (key TEXT PRIMARY KEY, fields TEXT) STRICT, WITHOUT ROWID');
    this.select = this.database.prepare('SELECT fields FROM documents WHERE key = ?');
    this.replace = this.database.prepare('REPLACE INTO documents (key, fields) VALUES (?, ?)');
  }

  /** Reads a document's fields: `null` for a deleted document, `undefined` for one that was not written. */
  read(key: DocumentKey): DocumentFields | null | undefined {
    const row = this.select.get(documentPath(key));
    if (row === undefined) return undefined;
    if (typeof row.fields !== 'string') return null;
    return unsealDocument(parseFields(key.id, row.fields), key, decryptedSecrets(), this.keyring);
  }

  /** Replaces a document; `null` marks it as deleted. */
  write(key: DocumentKey, fields: DocumentFields | null): void {
    const sealed = fields === null ? null : sealFields(fields, key, this.keyring.newest());
    this.replace.run(documentPath(key), sealed === null ? null : JSON.stringify(sealed));
  }

  /** Runs `work` in a transaction, which is rolled back when `work` throws. */
  atomically(work: () => void): void {
    this.database.exec('BEGIN');
    try {
      work();
      this.database.exec('COMMIT');
    } catch (reason) {
      this.database.exec('ROLLBACK');
      throw reason;
    }
  }

  close(): void {
    this.database.close();
  }
}

const storedJson = z.record(z.string(), z.unknown());

function parseFields(id: string, json: string): DocumentFields {
  const document: MutableDocument = { id };
  for (const [name, value] of Object.entries(storedJson.parse(JSON.parse(json)))) {
    if (isFieldName(name)) setField(document, name, value);
  }
  return document;
}

function isFieldName(name: string): name is FieldName {
  return name in documentFieldTypes;
}
