import type { DocumentFields, FieldName } from '../documentFields.ts';
import { distinctKeys } from '../readByPath.ts';
import { type Collection, type DocumentKey, documentPath, type StoredDocument, type Write } from '../store.ts';

/** A record whose name another record of the collection holds, which only an operator can resolve. */
export interface SharedName {
  readonly orgId: string;
  readonly collection: Collection;
  /** The record's id; for a record that several ids identify, all of them. */
  readonly id: string;
  readonly holderId: string;
}

/**
 * One pass over a collection. Its decisions are idempotent, so that an interrupted pass can be repeated. It describes the
 * forms of two past versions, so it must not change, nor import anything that changes with the present form.
 */
export interface MigrationStep {
  /** Identifies the step in the progress of an upgrade. */
  readonly name: string;
  readonly collection: Collection;
  /** The fields to read of the collection's documents. */
  readonly fields: readonly FieldName[];
  /** Lists the documents that the decision on a document depends on. */
  readonly dependencies: (document: StoredDocument) => readonly DocumentKey[];
  /** Adds the writes that give a document, and what belongs to it, the new form. */
  readonly migrate: (document: StoredDocument, batch: MigrationBatch) => SharedName | undefined;
}

/** The documents that a batch of decisions depends on, as the earlier decisions of the batch leave them. */
export class MigrationBatch {
  readonly writes: Write[] = [];
  private readonly documents = new Map<string, DocumentFields | undefined>();

  constructor(keys: readonly DocumentKey[], documents: readonly (StoredDocument | undefined)[]) {
    for (const [index, key] of keys.entries()) this.documents.set(documentPath(key), documents[index]);
  }

  find(key: DocumentKey): DocumentFields | undefined {
    return this.documents.get(documentPath(key));
  }

  create(key: DocumentKey, fields: DocumentFields): void {
    this.writes.push({ type: 'create', key, fields });
    this.documents.set(documentPath(key), fields);
  }

  update(key: DocumentKey, fields: DocumentFields): void {
    this.writes.push({ type: 'update', key, fields });
    this.documents.set(documentPath(key), { ...this.find(key), ...fields });
  }

  delete(key: DocumentKey): void {
    this.writes.push({ type: 'delete', key });
    this.documents.set(documentPath(key), undefined);
  }
}

/** The decisions on a batch of documents. */
export interface MigratedBatch {
  readonly writes: readonly Write[];
  /** The documents that must not change before the commit, besides the written ones. */
  readonly held: readonly DocumentKey[];
  readonly sharedNames: readonly SharedName[];
}

/** Lists the documents that the decisions on a batch depend on. */
export function batchDependencies(step: MigrationStep, documents: readonly StoredDocument[]): DocumentKey[] {
  const keys = documents.flatMap((document) => step.dependencies(document));
  return distinctKeys(keys);
}

/** Decides a batch of documents. */
export function migrateBatch(
  step: MigrationStep,
  documents: readonly StoredDocument[],
  batch: MigrationBatch,
): MigratedBatch {
  const needed = new Map<string, DocumentKey>();
  const sharedNames: SharedName[] = [];
  for (const document of documents) {
    const before = batch.writes.length;
    const sharedName = step.migrate(document, batch);
    if (sharedName !== undefined) sharedNames.push(sharedName);
    if (batch.writes.length === before) continue;
    for (const key of [{ collection: step.collection, id: document.id }, ...step.dependencies(document)])
      needed.set(documentPath(key), key);
  }
  for (const { key } of batch.writes) needed.delete(documentPath(key));
  return { writes: batch.writes, held: [...needed.values()], sharedNames };
}
