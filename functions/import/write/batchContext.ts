import type { PasswordHashing } from '../../../shared/passwordHashing.ts';
import type { DocumentStore, Store } from '../../../shared/store/store.ts';
import type { OnConflict } from '../contract.ts';
import type { ImportNotes } from '../resume/notes.ts';
import type { ReservedNames } from './references.ts';
import type { RemovalWatch } from './removalWatch.ts';

/** The state that the batches of one import share. */
export interface BatchContext {
  readonly store: DocumentStore;
  /** The store without this import's unfinished writes, for reading ranges. */
  readonly base: Pick<Store, 'snapshot'>;
  /** Identifies this call's records; see `uniqueStamp`. */
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
  /** Whether an earlier call may have overwritten a record and been interrupted before it had withdrawn everything. */
  readonly mayHaveOverwritten: boolean;
  /** The number of batches so far. */
  batches: number;
  /** Whether the last batch met existing records, so that reading first is cheaper than attempting creation. */
  expectExisting: boolean;
}
