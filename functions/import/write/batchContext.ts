import type { RecordIssue } from '../../../shared/organisation/section.ts';
import type { DocumentStore, StoredDocument } from '../../../shared/store/store.ts';
import type { OnConflict } from '../contract.ts';
import type { ReservedNames } from './references.ts';

/** What became of a record; `skipped` and `overwritten` are records that existed with other content. */
export type Outcome =
  | { readonly kind: 'created' | 'unchanged' | 'overwritten' | 'skipped' | 'notCarried' }
  | { readonly kind: 'failed'; readonly issue: RecordIssue };

/** Whether this import wrote the record. */
export function isWritten({ kind }: Outcome): boolean {
  return kind === 'created' || kind === 'overwritten';
}

/** State shared by the batches of one import. */
export interface BatchContext {
  readonly store: DocumentStore;
  /** The date of the records that this import creates or changes, and of no other import; each batch adds its number. */
  readonly stamp: string;
  readonly onConflict: OnConflict;
  readonly reservedNames: ReservedNames;
  /** How many batches there were. */
  batches: number;
  /** Whether the last batch met existing records, so that reading first is cheaper than trying to create. */
  expectExisting: boolean;
}

/** The date that the next batch stores in its records. */
export function nextStamp(context: BatchContext): string {
  const number = String(context.batches++ % 1_000).padStart(3, '0');
  return `${stampPrefix(context)}${number}Z`;
}

/** Whether this import wrote the stored record, so that the export file holds another record of the same key. */
export function isOfThisImport(context: BatchContext, { createdAt = '', changedAt = '' }: StoredDocument): boolean {
  const prefix = stampPrefix(context);
  return createdAt.startsWith(prefix) || changedAt.startsWith(prefix);
}

function stampPrefix({ stamp }: BatchContext): string {
  return stamp.replace(/Z$/, '');
}
