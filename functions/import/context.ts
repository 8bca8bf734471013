import type { Caller } from '../../shared/auth/authorise.ts';
import type { Inspection } from '../../shared/exportFile/inspection.ts';
import type { IgnoredField } from '../../shared/exportFile/manifest.ts';
import type { ExportFileSource } from '../../shared/exportFile/reader.ts';
import type { Limits } from '../../shared/limits.ts';
import type { DocumentStore, Store, Transaction } from '../../shared/store/store.ts';
import type { CreatedRecords } from './check/createdRecords.ts';
import type { Pace } from './commit/pace.ts';
import type { Deletion, ImportProgress, ImportRequestOptions } from './contract.ts';
import type { Rules } from './decide/intentions.ts';
import type { Mirror } from './mirror/deletions.ts';
import type { InspectedRecords } from './plan/inspectedRecords.ts';
import type { ReservedNames } from './read/reservedNames.ts';
import type { ImportReport } from './results/report.ts';
import type { AttemptStamps } from './stamp.ts';

export interface ImportSettings extends Partial<ImportRequestOptions> {
  /** The import must not delete the calling user or change this user's state. */
  readonly caller?: Pick<Caller, 'userId'>;
  /** The cost of bcrypt for clear passwords. With the default cost, every ZITADEL release can verify the hashes. */
  readonly bcryptCost?: number | undefined;
  /**
   * The state of the database when the import began. If absent, the import begins when `importOrganisations` is called.
   * An import over HTTP begins earlier, before the request body arrives.
   */
  readonly beginning?: Beginning;
  /** Called after the validation of the file, before the first write. If this function throws, the import fails. */
  readonly onInspected?: (file: InspectedFile) => Promise<void>;
  /** Returns the milliseconds until the import's timeout; undefined if the import has no timeout. */
  readonly msLeft?: () => number | undefined;
  readonly onWait?: () => void;
  /**
   * Called when the import has the instance's lock, possibly after a wait. If this function throws, the import fails.
   */
  readonly onLocked?: () => Promise<unknown>;
  /**
   * Called in each transaction in which a mirroring import deletes records. If this function throws, the import fails.
   */
  readonly onDeleting?: (transaction: Transaction, deleted: readonly Deletion[]) => Promise<void>;
  readonly ignored?: readonly IgnoredField[];
  /** Called at the start of each phase, and when the import begins to wait for the instance's lock. */
  readonly onProgress?: () => void;
  /**
   * The result of the validation, if the caller has already validated the file; `limits` then have no effect. Absent
   * for a mirroring import, whose own validation must collect the keys of the file's records.
   */
  readonly inspection?: Inspection;
  readonly limits?: Pick<Limits, 'organisations' | 'clearPasswords' | 'dryRunRecords'>;
}

export interface InspectedFile {
  /** SHA-256 of the file's bytes, base64url. */
  readonly digest: string;
  readonly orgIds: readonly string[];
  readonly totals: () => Readonly<Record<string, number>>;
  readonly progress: () => ImportProgress;
}

/**
 * The database itself, even in a dry run, whose writes go to an overlay. Functions read ranges of documents from it,
 * because these reads do not depend on writes of this import.
 */
export type ImportedStore = Pick<Store, 'snapshot' | 'durable' | 'lock' | 'advice'>;

/**
 * The state of the database when an import began. Calls that do not hold the instance's lock can change records later.
 * The import does not undo these changes.
 */
export interface Beginning {
  /** The position in the order of the database's commits at which the import began; see `InstanceLock`. */
  readonly position: string;
  /** The number of members that were removed before the import began. */
  readonly memberRemovals: number;
}

interface ImportState {
  readonly report: ImportReport;
  readonly stamps: AttemptStamps;
  readonly pace: Pace;
  readonly created: CreatedRecords;
  readonly reservedNames: ReservedNames;
}

/** An import whose file is valid. Everything except `state` is constant. */
export interface ImportContext {
  readonly settings: ImportSettings;
  readonly source: ExportFileSource;
  readonly inspection: Inspection;
  readonly inspected: InspectedRecords;
  /** The database, or in a dry run the overlay that receives the writes. */
  readonly store: DocumentStore;
  readonly base: ImportedStore;
  /**
   * Stops the import between two batches, and stops password hashing immediately. The signal's reason is the error to
   * throw.
   */
  readonly signal: AbortSignal;
  readonly rules: Rules;
  readonly beginning: Beginning;
  readonly bcryptCost: number;
  /** Undefined unless the import mirrors the file. */
  readonly mirror?: Mirror | undefined;
  /** The organisations whose removal was interrupted. Their records count as missing. */
  readonly removed: ReadonlySet<string>;
  /** True if login names contain the organisation's domain in an organisation that has no domain policy. */
  readonly loginNamesByDefault: boolean;
  readonly state: ImportState;
}
