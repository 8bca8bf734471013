// What the functions of one import share.

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

/** The settings of an import: the options of its request, and those of its caller. */
export interface ImportSettings extends Partial<ImportRequestOptions> {
  /** The calling user, whom the import must not lock out. */
  readonly caller?: Pick<Caller, 'userId'>;
  /** How clear passwords are hashed; by default as every ZITADEL can verify. */
  readonly bcryptCost?: number | undefined;
  /** By default, the state at the beginning of the operation: a call begins before its body is received. */
  readonly beginning?: Beginning;
  /** Called once the file is valid, before the first write; the import fails if it throws. */
  readonly onInspected?: (file: InspectedFile) => Promise<void>;
  /** Called when the import begins to wait for the lock. */
  readonly onWait?: () => void;
  /** Called once the import holds the lock, which it may have waited for; the import fails if it throws. */
  readonly onLocked?: () => Promise<unknown>;
  /** Called in each transaction of a mirroring import that deletes records; the import fails if it throws. */
  readonly onDeleting?: (transaction: Transaction, deleted: readonly Deletion[]) => Promise<void>;
  /** The fields of the request that the service does not know, each for a warning. */
  readonly ignored?: readonly IgnoredField[];
  /** Called at the start of each phase, and when the import begins to wait for the instance's lock. */
  readonly onProgress?: () => void;
  /** The file, if the caller has validated it without limits. An import that mirrors collects the keys itself. */
  readonly inspection?: Inspection;
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

/** The database without this import's unfinished writes, for reading ranges. */
export type ImportedStore = Pick<Store, 'snapshot' | 'durable' | 'lock' | 'advice'>;

/** The state of the database when an import began. It does not undo what calls without the lock change later. */
export interface Beginning {
  /** The position in the order of commits; see `InstanceLock`. */
  readonly position: string;
  /** The number of removals of members so far. */
  readonly memberRemovals: number;
}

/** An import whose file is valid. */
export interface ImportContext {
  readonly settings: ImportSettings;
  readonly source: ExportFileSource;
  readonly inspection: Inspection;
  readonly inspected: InspectedRecords;
  /** The database, or in a dry run the overlay that takes the writes. */
  readonly store: DocumentStore;
  readonly base: ImportedStore;
  /** Stops the import between two batches, with its reason. Derivations of passwords end at once. */
  readonly signal: AbortSignal;
  readonly report: ImportReport;
  readonly rules: Rules;
  readonly beginning: Beginning;
  readonly stamps: AttemptStamps;
  readonly pace: Pace;
  readonly bcryptCost: number;
  readonly created: CreatedRecords;
  readonly reservedNames: ReservedNames;
  /** What the import deletes; undefined unless it mirrors the file. */
  readonly mirror?: Mirror | undefined;
  /** The organisations whose removal was interrupted: their records count as missing. */
  readonly removed: ReadonlySet<string>;
  /** Whether login names contain the domain of an organisation that has no domain policy. */
  readonly loginNamesByDefault: boolean;
}
