import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { createSerialQueue } from '../async.ts';
import {
  type DocumentFields,
  documentFieldTypes,
  type FieldName,
  fieldNames,
  type GrowingDocument,
  setField,
} from './documentFields.ts';
import {
  type Collection,
  type DocumentChanges,
  type DocumentKey,
  type DocumentStore,
  type Snapshot,
  type Store,
  type StoredDocument,
  type Write,
  WriteConflictError,
} from './store.ts';

/** A store on top of another one, which it never writes to. Must be closed. */
export interface Overlay extends DocumentStore, AsyncDisposable {}

const withoutBody = fieldNames.filter((name) => name !== 'body');

/**
 * Opens an overlay over the present state of a store. Reads see what was written here and under it the store as it
 * was; what is written goes to a temporary file. It is what a dry run works on.
 * @param bodiesOf the collections whose documents keep their `body`, which is what weighs most
 */
export async function openOverlay(store: Store, bodiesOf: ReadonlySet<Collection>): Promise<Overlay> {
  const base = await store.snapshot();
  const layer = new Layer();
  const keptFields = (collection: Collection) => (bodiesOf.has(collection) ? fieldNames : withoutBody);
  const inTurn = createSerialQueue();
  const getMany: DocumentStore['getMany'] = (keys, fields) => readThrough(layer, base, keys, fields);
  return {
    getMany,
    commit: (writes) => inTurn(() => apply(layer, base, writes, keptFields)),
    transaction: (work) =>
      inTurn(async () => {
        const writes: Write[] = [];
        const result = await work({ getMany, write: (some) => void writes.push(...some) });
        await apply(layer, base, writes, keptFields);
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
  const below = keys.filter((_key, index) => written[index] === undefined);
  const found = (below.length === 0 ? [] : await base.getMany(below, fields))[Symbol.iterator]();
  return keys.map((key, index) => {
    const own = written[index];
    if (own === undefined) return found.next().value;
    return own === null ? undefined : { id: key.id, ...pick(own, fields) };
  });
}

type KeptFields = (collection: Collection) => readonly FieldName[];

async function apply(layer: Layer, base: Snapshot, writes: readonly Write[], keptFields: KeptFields): Promise<void> {
  const present = await readThrough(
    layer,
    base,
    writes.map(({ key }) => key),
  );
  layer.atomically(() => {
    for (const [index, write] of writes.entries())
      applyOne(layer, write, present[index], keptFields(write.key.collection));
  });
}

/** `present` is the document before all writes: one of them may have changed it since. */
function applyOne(layer: Layer, write: Write, present: StoredDocument | undefined, kept: readonly FieldName[]): void {
  const own = layer.read(write.key);
  const current = own === undefined ? present : (own ?? undefined);
  if (write.type === 'delete') {
    layer.write(write.key, null);
    return;
  }
  if ((write.type === 'create') !== (current === undefined))
    throw new WriteConflictError(`${write.type} of ${write.key.collection}/${write.key.id}`);
  layer.write(write.key, pick({ ...current, ...write.fields }, kept));
}

function pick(fields: DocumentChanges, names: readonly FieldName[]): DocumentFields {
  return Object.fromEntries(names.flatMap((name) => (fields[name] == null ? [] : [[name, fields[name]]])));
}

/** The documents that were written into an overlay, in a temporary file of SQLite's own that nobody else can open. */
class Layer {
  private readonly database = new DatabaseSync('');
  private readonly select;
  private readonly replace;

  constructor() {
    this.database.exec('CREATE TABLE documents (key TEXT PRIMARY KEY, fields TEXT) STRICT, WITHOUT ROWID');
    this.select = this.database.prepare('SELECT fields FROM documents WHERE key = ?');
    this.replace = this.database.prepare('REPLACE INTO documents (key, fields) VALUES (?, ?)');
  }

  /** The fields of a document, `null` where it was deleted, `undefined` where it is as it was. */
  read({ collection, id }: DocumentKey): DocumentFields | null | undefined {
    const row = this.select.get(`${collection}/${id}`);
    if (row === undefined) return undefined;
    return typeof row.fields === 'string' ? parseFields(id, row.fields) : null;
  }

  /** Writes a document, or with `null` takes it away. */
  write({ collection, id }: DocumentKey, fields: DocumentFields | null): void {
    this.replace.run(`${collection}/${id}`, fields === null ? null : JSON.stringify(fields));
  }

  /** Runs `work` so that all that it writes is kept, or nothing. */
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

const written = z.record(z.string(), z.unknown());

function parseFields(id: string, json: string): DocumentFields {
  const document: GrowingDocument = { id };
  for (const [name, value] of Object.entries(written.parse(JSON.parse(json)))) {
    if (isFieldName(name)) setField(document, name, value);
  }
  return document;
}

function isFieldName(name: string): name is FieldName {
  return name in documentFieldTypes;
}
