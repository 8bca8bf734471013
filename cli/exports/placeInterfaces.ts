// The interfaces of places: files and databases, with their options and facts.

import type { ExportRequestOptions } from '../../functions/export/contract.ts';
import type { ImportProgress, ImportRequestOptions } from '../../functions/import/contract.ts';
import type { RecordWarning } from '../../shared/errors/warnings.ts';
import type { Inspection, RecordVisitor } from '../../shared/exportFile/inspection.ts';
import type { ExportFileItem } from '../../shared/exportFile/reader.ts';
import type { StatedLimits } from '../../shared/limits.ts';
import { allReleases, type ReleaseRange } from '../../shared/organisation/zitadelReleases.ts';
import type { LockHolder } from '../../shared/store/lock/instanceLock.ts';
import type { ImportTarget } from '../records/importFacts.ts';
import type { RunDatabase } from '../records/runDatabase.ts';
import type { SecretSelection } from '../records/secretSelection.ts';
import { usageError } from '../terminal/command.ts';
import type { ProgressOutput } from '../terminal/progress.ts';
import type { acceptableLosses } from '../terminal/valueFormats.ts';
import type { ImportResponse } from './importResponse.ts';

/** A loss in ZITADEL that a call may accept. */
export type AcceptableLoss = (typeof acceptableLosses)[number];

/** Options of a call that are not part of the request to a server. */
interface CallOptions {
  /** The time limit in milliseconds; by default the limit of the place. */
  readonly timeoutMs?: number | undefined;
  /** The losses in ZITADEL that the call accepts. An accepted loss does not lead to an error. */
  readonly accepted?: readonly AcceptableLoss[] | undefined;
  /**
   * The kinds of secrets that the call requests. If an export lacks a requested kind, the source has no secrets of this
   * kind.
   */
  readonly asked?: SecretSelection | undefined;
}

/** The options of an export. A file ignores these options, because the command always reads a file completely. */
export interface PlaceExportOptions extends ExportRequestOptions, CallOptions {
  /** Called for an organisation that the place fails to export. By default, the export ends with the place's error. */
  readonly onUnexported?: (organisation: UnexportedOrganisation) => void;
  /**
   * Whether an instance of this service exports only its organisations, without their records but with `importedFrom`.
   */
  readonly orgsOnly?: true;
}

/** An organisation that a place fails to export. */
export interface UnexportedOrganisation {
  readonly orgId: string;
  /** The place's error and its remedy. */
  readonly message: string;
}

type MirrorOptions = Pick<ImportRequestOptions, 'mirror' | 'maxDeleted' | 'replaceChanged'>;

/** The options of an import into an instance or a database. */
export interface PlaceImportOptions
  extends Omit<ImportRequestOptions, keyof MirrorOptions>,
    Partial<MirrorOptions>,
    CallOptions {}

/** The losses that a call accepts. */
export type AcceptedLosses = Pick<CallOptions, 'accepted'>;

/** Whether a call accepts a loss. */
export function accepts({ accepted = [] }: AcceptedLosses, loss: AcceptableLoss): boolean {
  return accepted.includes(loss);
}

/** An export file from a place. The caller disposes of the file. */
export interface ExportFile extends AsyncDisposable {
  /** Whether a caller may call `open` repeatedly and always receives the same bytes. */
  readonly isRepeatable: boolean;
  /** The number of bytes that `open` yields, if known before reading. */
  readonly size?: number | undefined;
  /** Content that every export of the place omits, if the place is not an instance of this service. */
  readonly losses?: readonly string[];
  /**
   * Warnings about omitted or unknown content, such as one per organisation. The export adds warnings while it is read.
   */
  readonly notices?: readonly RecordWarning[];
  /** Whether `open` validates the file and passes the file's items to `onItems`. */
  readonly isValidated?: true;
  /**
   * Reads the decompressed bytes of the file.
   * @param onItems receives the items of a validated file
   * @throws IdentityError if the place stops sending
   */
  open(signal: AbortSignal, onItems?: (items: readonly ExportFileItem[]) => void): AsyncIterable<Uint8Array>;
  /** An alternative to `open`, for a reader that validates the export and the manifest in one pass. */
  readonly once?: {
    /** Reads the bytes without the checks of the outer `open`. */
    open(signal: AbortSignal): AsyncIterable<Uint8Array>;
    /** Returns the error of the place for a damaged export. */
    damaged?(problem: string): Error;
  };
  /** Returns which fraction of the file the reader has read, from 0 to 1; undefined if the size is unknown. */
  fraction?(): number | undefined;
  /**
   * Deletes the data that the place has stored for this export, after an error. Returns the error, with a note about
   * data that could not be deleted.
   */
  deleteAfter?(error: unknown): Promise<unknown>;
}

/** A file that a place stored. */
export interface StoredFile {
  readonly place: string;
  readonly bytes: number;
  /** The generation and the checksum of an object. */
  readonly generation?: string;
  readonly crc32c?: string;
}

interface Source {
  /** The place's name in messages. */
  readonly name: string;
  /**
   * Opens the export of the place.
   * @throws IdentityError
   */
  readExport(options: PlaceExportOptions, signal: AbortSignal): Promise<ExportFile>;
}

/** A place that stores one file. */
export interface FilePlace extends Source {
  readonly takes: 'files';
  /**
   * Stores a new file, and compresses it if its name ends in `.gz`. The file appears under its name only when it is
   * complete.
   * @throws IdentityError if the name exists, or if the place is not writable or full; the errors of `content`
   */
  store(content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StoredFile>;
  /** Requires that no file has this name. Undefined if only `store` can check this. */
  requireFree?(signal: AbortSignal): Promise<void>;
}

/** The phases of an import. In the last phase, the target writes and needs no more content from this process. */
export type ImportPhase = 'sending' | 'reading' | 'comparing' | 'uploading' | 'importing';

/** The progress of a phase: the number of processed records, and of all records. */
export interface DoneRecords {
  readonly records: number;
  readonly total: number;
  /** The number of processed records that existed before the import. */
  readonly unchanged?: number;
  /** The number of processed bytes. If present, `total` is a number of bytes too. */
  readonly bytes?: number;
}

/** Receives the progress of an import. */
export interface ImportMeter {
  /**
   * Called at the start of each phase, and when the source of the progress changes.
   * @param done returns the progress; by default, the progress of reading the content
   */
  readonly onPhase: (phase: ImportPhase, done?: () => DoneRecords) => void;
  /**
   * Called when the target begins to wait for another operation, with that operation. Called with undefined when the
   * wait ends.
   */
  readonly onWait: (holder: LockHolder | undefined) => void;
  /** Called once if the target expects that the timeout will interrupt the import. */
  readonly onExcess: (excess: NonNullable<ImportProgress['exceedsTimeout']>) => void;
  /** Called before the retry of an interrupted import, with the seconds until the retry. */
  readonly onRetry: ProgressOutput['retry'];
}

/** A place with a database. It can export and import organisations. */
export interface DatabasePlace extends Source {
  readonly takes: 'imports';
  /**
   * Imports a file into the place.
   * @throws IdentityError
   */
  import(
    content: ExportFile,
    options: PlaceImportOptions,
    meter: ImportMeter,
    signal: AbortSignal,
  ): Promise<ImportResponse>;
  /**
   * Prepares an import for which the caller reads the file only once, for the dry run and the import. Undefined for a
   * place that reads the file itself.
   * @param database receives the file's records from the import. After the caller has read the target, the database
   * also contains the target's records
   */
  prepareImport?(database: RunDatabase, signal: AbortSignal): Promise<PreparedImport | undefined>;
  /**
   * Lists all organisations. For ZITADEL, includes deleted organisations.
   * @throws IdentityError
   */
  organisations(signal: AbortSignal): Promise<readonly ListedOrganisation[]>;
  /**
   * Reads facts about the place, and which operations the token permits. Changes nothing.
   * @throws IdentityError for an unreachable place, an unknown service or a rejected token
   */
  facts(operations: readonly PlaceOperation[], signal: AbortSignal): Promise<PlaceFacts>;
}

/** A prepared import. It receives the records of the file as a visitor. */
export interface PreparedImport extends RecordVisitor {
  /**
   * Imports the file, or runs a dry run.
   * @param read reads the file, unless a dry run has already read it
   * @throws IdentityError
   */
  import(
    read: (signal: AbortSignal) => Promise<Inspection>,
    options: PlaceImportOptions,
    meter: ImportMeter,
    signal: AbortSignal,
  ): Promise<ImportResponse>;
}

/** An organisation of a place, and its origin. */
export interface ListedOrganisation {
  readonly orgId: string;
  readonly name: string;
  /** Whether ZITADEL has deleted the organisation. */
  readonly isDeleted: boolean;
  /**
   * The id of the instance from which an import brought the organisation. Undefined if unknown, or if the source was
   * not this service.
   */
  readonly importedFrom?: string | undefined;
  /** The id of the user in ZITADEL who created the organisation. */
  readonly createdBy?: string | undefined;
}

/** A place: a source or a target of organisations. */
export type Place = FilePlace | DatabasePlace;

/** An operation of a place that the token must permit. */
export type PlaceOperation = 'export' | 'import';

/**
 * Facts about a place with a database, as shown before a migration. The texts are lower-case fragments without a full
 * stop.
 */
export interface PlaceFacts {
  readonly service: 'identity' | 'zitadel';
  /** The release of the service, if known. */
  readonly version: string | undefined;
  /** The name of the instance, if known. */
  readonly instance: string | undefined;
  readonly defaultOrgId: string | undefined;
  /** The id of the instance, if known. All addresses of the instance have the same id. */
  readonly instanceId?: string | undefined;
  /** The name of the default organisation, if known. */
  readonly defaultOrgName?: string;
  /** The domains of a ZITADEL instance. ZITADEL derives the domains of organisations from these. */
  readonly domains?: readonly string[];
  /** The possible releases of ZITADEL. */
  readonly releases?: ReleaseRange;
  /** What the command assumes about an unknown release of ZITADEL, and why. */
  readonly assumption?: string;
  /** The user of the token, if known. */
  readonly caller?: {
    readonly userId: string;
    /** The organisation of the user. */
    readonly orgId: string;
    /** The user's roles in the instance, such as IAM_OWNER. */
    readonly roles: readonly string[];
  };
  /** The requested operations that the token does not permit. */
  readonly denied: readonly PlaceOperation[];
  /** Descriptions of the place's limits for calls, and of how the command stays within them. */
  readonly limits?: readonly string[];
  /** The limits that an instance of this service publishes. */
  readonly callLimits?: Pick<StatedLimits, 'requestBytes' | 'responseBytes' | 'transfers'>;
  /** Content that every export omits. */
  readonly exportLosses: readonly string[];
  /** How every import differs from an import into an instance of this service, as texts for plans. */
  readonly importChanges?: readonly string[];
}

/** Returns the facts of a target that determine how it imports records. */
export function importTarget(facts: Pick<PlaceFacts, 'releases'> | undefined, options: AcceptedLosses): ImportTarget {
  return { releases: facts?.releases ?? allReleases, omitsHashes: accepts(options, 'refused-hashes') };
}

/** A place with its facts. */
export interface DescribedPlace {
  readonly place: Place;
  /** Undefined if the place is a file or an object. */
  readonly facts: PlaceFacts | undefined;
}

/** Reads the facts about a place, and whether the token permits exports. */
export async function describePlace(place: Place, signal: AbortSignal): Promise<DescribedPlace> {
  return { place, facts: place.takes === 'imports' ? await place.facts(['export'], signal) : undefined };
}

/**
 * Requires that two places are not the same instance under two addresses.
 * @throws IdentityError USAGE_INVALID
 */
export function requireOtherInstance(first: DescribedPlace, second: DescribedPlace): void {
  if (first.facts?.instanceId === undefined || first.facts.instanceId !== second.facts?.instanceId) return;
  const isOurs = first.facts.service === 'identity';
  const copy = '; if one is a copy of the other, but `identity restore` did not make the copy, export to a file first';
  const problem = `${first.place.name} and ${second.place.name} are the same instance: specify two instances`;
  throw usageError(`${problem}${isOurs ? copy : ''}`);
}

/** What a service publishes about itself without authentication. */
export type Recognised = Pick<PlaceFacts, 'service' | 'version' | 'callLimits'>;
