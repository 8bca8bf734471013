import type { PasswordHashing } from '../../../shared/passwordHashing.ts';
import type { DocumentStore, Store, StoredDocument } from '../../../shared/store/store.ts';
import type { OnConflict } from '../contract.ts';
import type { ReservedNames } from './claimedNames.ts';
import type { RemovalWatch } from './guardedStore.ts';

/** The state that the batches of one import share. */
export interface BatchContext {
  readonly store: DocumentStore;
  /** The store without this import's unfinished writes, for reading ranges. */
  readonly base: Pick<Store, 'snapshot'>;
  /** Identifies this call's records; see `uniqueStamp`. */
  readonly stamp: string;
  readonly onConflict: OnConflict;
  readonly reservedNames: ReservedNames;
  readonly watch: RemovalWatch;
  readonly passwordHashing: PasswordHashing;
  /** Stops the import; derivations of passwords end at once. */
  readonly signal: AbortSignal;
  /** The batch size that suits the database at present, if the database reports one. */
  readonly pace?: Pick<Store, 'commitsInFlight' | 'recordsPerCommit'>;
  /** Whether login names carry the domain of an organisation that has no domain policy. */
  readonly loginNamesByDefault: boolean;
  /** The path of the calling user's record. */
  readonly callerPath?: string | undefined;
  /** The number of batches so far. */
  batches: number;
  /** Whether the last batch met existing records, so that reading first is cheaper than attempting creation. */
  expectExisting: boolean;
}

/** Returns the creation and change date for a call's next batch. */
export function nextStamp(call: Pick<BatchContext, 'stamp' | 'batches'>): string {
  const number = String(call.batches++).padStart(3, '0');
  return `${stampPrefix(call)}${number}Z`;
}

/** Whether a call wrote the stored record, so that the export file has another record with the same key. */
export function isOfThisImport(call: Pick<BatchContext, 'stamp'>, stored: StoredDocument): boolean {
  return (
    (stored.createdAt ?? '').startsWith(stampPrefix(call)) || (stored.changedAt ?? '').startsWith(stampPrefix(call))
  );
}

/** The length of a time with milliseconds, which the digits of an import follow. */
const TIME_LENGTH = '2026-01-02T03:04:05.678'.length;

/** Whether a request of the same import created the stored record. */
export function isCreatedByImport(call: Pick<BatchContext, 'stamp'>, { createdAt = '' }: StoredDocument): boolean {
  return createdAt.startsWith(stampPrefix(call).slice(TIME_LENGTH), TIME_LENGTH);
}

/** Returns what the creation and change dates of a call's records start with. */
function stampPrefix({ stamp }: Pick<BatchContext, 'stamp'>): string {
  return stamp.replace(/Z$/, '');
}
