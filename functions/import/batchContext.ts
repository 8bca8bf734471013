import type { DocumentStore, StoredDocument } from '../../shared/store/store.ts';
import type { OnConflict } from './outcome.ts';
import type { ReservedNames } from './reservedNames.ts';

/** What batches of one import share. */
export interface BatchContext {
  readonly store: DocumentStore;
  /** The date of the records that this import creates or changes, and of no other import; each batch adds its number. */
  readonly stamp: string;
  readonly onConflict: OnConflict;
  readonly reservedNames: ReservedNames;
  /** How many batches there were. */
  batches: number;
  /** Whether the last batch met records that are there already, so that looking first is cheaper than trying. */
  expectExisting: boolean;
}

/** The date that the next batch stores in its records. */
export function nextStamp(context: BatchContext): string {
  const number = String(context.batches++ % 1_000).padStart(3, '0');
  return `${prefixOf(context)}${number}Z`;
}

/** Whether the stored record was written by this import, so that another like it is there twice in the document. */
export function isOfThisImport(context: BatchContext, { createdAt = '', changedAt = '' }: StoredDocument): boolean {
  const prefix = prefixOf(context);
  return createdAt.startsWith(prefix) || changedAt.startsWith(prefix);
}

function prefixOf({ stamp }: BatchContext): string {
  return stamp.replace(/Z$/, '');
}
