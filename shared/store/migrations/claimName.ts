import { type DocumentKey, documentPath } from '../store.ts';
import type { MigrationBatch, SharedName } from './migration.ts';

/** A record's name, with the key of its claim. */
export interface ClaimedName {
  readonly orgId: string;
  readonly record: DocumentKey;
  readonly claim: DocumentKey;
  /** The key under which the format before claimed the name. */
  readonly former?: DocumentKey;
}

/**
 * Claims a name for a record, and deletes the record's claim of the former key. A record goes without a claim where another
 * one holds the name, under either key.
 * @returns the name, if another record holds it
 */
export function claimName(
  { orgId, record, claim, former }: ClaimedName,
  batch: MigrationBatch,
): SharedName | undefined {
  const ownerId = documentPath(record);
  const present = batch.find(claim);
  const previous = former && batch.find(former);
  if (former !== undefined && previous?.ownerId === ownerId) batch.delete(former);
  const holder = present ?? previous;
  if (holder !== undefined && holder.ownerId !== ownerId) return sharedName(orgId, record, holder.ownerId);
  if (present === undefined) batch.create(claim, { orgId, ownerId });
  return undefined;
}

/** Describes a name of a record that another one holds. */
export function sharedName(orgId: string, record: DocumentKey, holder = ''): SharedName {
  return { orgId, collection: record.collection, id: readId(record.id), holderId: readId(holder) };
}

/** Returns the natural key in a document's id or path, after the two digits of its hash. */
function readId(id: string): string {
  return id.slice(id.indexOf('~') + 1).replace(/%(?:25|2f|7c)/g, decodeURIComponent);
}
