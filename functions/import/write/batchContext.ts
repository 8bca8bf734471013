import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import type { PasswordHashing } from '../../../shared/passwordHashing.ts';
import type { DocumentStore, Store, StoredDocument } from '../../../shared/store/store.ts';
import type { ImportWarning, OnConflict } from '../contract.ts';
import type { ImportNotes } from '../resume/notes.ts';
import type { ReservedNames } from './references.ts';
import type { RemovalWatch } from './removalWatch.ts';

/** The warnings about what a record refers to and the store does not have. */
type MissingTargets = readonly string[];

/** A written record's warnings of what it gives, changes or adds. */
interface Written {
  readonly writeWarnings?: readonly ImportWarning[];
}

/** A record's outcome. Records `skipped` or `overwritten` existed with other content. */
export type Outcome =
  | { readonly kind: 'unchanged' | 'skipped' | 'notCarried'; readonly warnings?: MissingTargets }
  | (Written & { readonly kind: 'created'; readonly warnings?: MissingTargets })
  | (Written & { readonly kind: 'overwritten'; readonly warning?: string; readonly warnings?: MissingTargets })
  | { readonly kind: 'failed'; readonly issue: RecordIssue };

/** Whether this import wrote the record. */
export function isWritten(outcome: Outcome): outcome is Extract<Outcome, { kind: 'created' | 'overwritten' }> {
  return outcome.kind === 'created' || outcome.kind === 'overwritten';
}

/** A record to write, and its position in the file. */
export interface PlacedPlan {
  readonly organisation: number;
  /** The record's position among the records of its phase. */
  readonly ordinal: number;
  readonly plan: RecordPlan;
}

/** The state that the batches of one import share. */
export interface BatchContext {
  readonly store: DocumentStore;
  /** The store without this import's unfinished writes, for reading ranges. */
  readonly base: Pick<Store, 'snapshot'>;
  /** The creation and change date of this import's records, unique to it; each batch appends its number. */
  readonly stamp: string;
  readonly now: () => Date;
  readonly onConflict: OnConflict;
  readonly reservedNames: ReservedNames;
  readonly notes: ImportNotes;
  readonly watch: RemovalWatch;
  readonly passwordHashing: PasswordHashing;
  /** Stops the import; derivations of passwords end at once. */
  readonly signal: AbortSignal;
  /** What the database takes best at present, where it tells. */
  readonly pace?: Pick<Store, 'commitsInFlight' | 'recordsPerCommit'>;
  /** The paths of the calling user's record and of its organisation's. */
  readonly callerPaths?: ReadonlySet<string>;
  /** The number of batches so far. */
  batches: number;
  /** Whether the last batch met existing records, so that reading first is cheaper than attempting creation. */
  expectExisting: boolean;
}

/** Returns the creation and change date for the next batch. */
export function nextStamp(context: BatchContext): string {
  const number = String(context.batches++).padStart(3, '0');
  return `${stampPrefix(context)}${number}Z`;
}

/** Whether this import wrote the stored record, so that the export file has another record with the same key. */
export function isOfThisImport(context: BatchContext, { createdAt = '', changedAt = '' }: StoredDocument): boolean {
  const prefix = stampPrefix(context);
  return createdAt.startsWith(prefix) || changedAt.startsWith(prefix);
}

/** Returns what the creation and change dates of this import's records start with. */
export function stampPrefix({ stamp }: Pick<BatchContext, 'stamp'>): string {
  return stamp.replace(/Z$/, '');
}
