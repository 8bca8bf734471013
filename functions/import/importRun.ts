// The state of one import, which its functions pass on as a whole.

import type { Caller } from '../../shared/auth/authorise.ts';
import type { Inspection } from '../../shared/exportFile/inspection.ts';
import type { IgnoredField } from '../../shared/exportFile/manifest.ts';
import type { ExportFileSource } from '../../shared/exportFile/reader.ts';
import type { Limits } from '../../shared/limits.ts';
import type { PasswordHashing } from '../../shared/passwordHashing.ts';
import type { LockHolder } from '../../shared/store/lock/instanceLock.ts';
import type { DocumentStore, Store } from '../../shared/store/store.ts';
import type { ImportProgress, ImportRequestOptions, OnConflict } from './contract.ts';
import type { ImportReport } from './results/report.ts';
import type { ReservedNames } from './write/reservedNames.ts';

/** The settings of an import: the options of its request, and those of its caller. */
export interface ImportSettings extends Partial<ImportRequestOptions> {
  /** The calling user, whom the import must not lock out. */
  readonly caller?: Pick<Caller, 'userId'>;
  /** How clear passwords are hashed; by default as every ZITADEL can verify. */
  readonly passwordHashing?: PasswordHashing | undefined;
  /** Called once the file is valid, before the first write; the import fails if it throws. */
  readonly onInspected?: (file: InspectedFile) => Promise<void>;
  /** Called when the import begins to wait for the instance's lock. */
  readonly onWait?: (holder: LockHolder) => void;
  /** Called once the import holds the lock, which it may have waited for; the import fails if it throws. */
  readonly onLocked?: () => Promise<unknown>;
  /** The fields of the request that the service does not know, each for a warning. */
  readonly ignored?: readonly IgnoredField[];
  /** Called at the start of each phase. */
  readonly onPhase?: () => void;
  /** The limits of the file; by default there are none. */
  readonly limits?: Pick<Limits, 'organisations' | 'clearPasswords' | 'dryRunRecords'>;
}

/** A valid export file, and the progress of its import. */
export interface InspectedFile {
  /** SHA-256 of the file's bytes, base64url. */
  readonly digest: string;
  readonly orgIds: readonly string[];
  /** Returns the numbers of records so far, by outcome. */
  readonly totals: () => Readonly<Record<string, number>>;
  /** Returns the import's progress so far. */
  readonly progress: () => ImportProgress;
}

/** An import: its file, its settings, and the store that it writes to. */
export interface ImportRun {
  readonly source: ExportFileSource;
  readonly settings: ImportSettings;
  /** The database, or in a dry run the overlay that takes the writes. */
  readonly store: DocumentStore;
  /** The database without this import's unfinished writes, for reading ranges. */
  readonly base: Pick<Store, 'snapshot' | 'durable' | 'lock' | 'commitsInFlight' | 'recordsPerCommit'>;
  /** The creation and change date of the written records, unique to this import; see `uniqueStamp`. */
  readonly stamp: string;
  /**
   * The position at which the import took the lock; undefined in a dry run. What other calls have changed since, it does not
   * overwrite.
   */
  readonly since?: string;
  /** Stops the import between two batches, with its reason. Derivations of passwords end at once. */
  readonly signal: AbortSignal;
  readonly report: ImportReport;
}

/** An import whose file is valid, while its records are written. */
export interface Writing extends ImportRun {
  readonly inspection: Inspection;
  readonly onConflict: OnConflict;
  readonly passwordHashing: PasswordHashing;
  /** The path of the calling user's record. */
  readonly callerPath: string | undefined;
  readonly reservedNames: ReservedNames;
  /** The organisations whose removal was interrupted: their records count as missing. */
  readonly removed: ReadonlySet<string>;
  /** Whether login names contain the domain of an organisation that has no domain policy. */
  readonly loginNamesByDefault: boolean;
  /** The batch size that suits the database at present, if the database reports one. */
  readonly pace: Pick<Store, 'commitsInFlight' | 'recordsPerCommit'>;
  /** The number of attempts to write a batch so far. */
  attempts: number;
  /** Whether the last batch met existing records, so that reading first is cheaper than attempting creation. */
  expectExisting: boolean;
}
