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

/**
 * A kind of data loss in an export from ZITADEL, or in an import into ZITADEL. If the call does not accept losses of
 * this kind, the call or the import of the records concerned can fail.
 */
export type AcceptableLoss = (typeof acceptableLosses)[number];

/** Options of the command for an export or import. Requests to an instance do not contain these options. */
interface CallOptions {
  /** The time limit in milliseconds. If absent, the default limit of the place applies. */
  readonly timeoutMs?: number | undefined;
  /** The kinds of losses in ZITADEL that the call accepts. A loss of any other kind is an error. */
  readonly accepted?: readonly AcceptableLoss[] | undefined;
  /**
   * The kinds of secrets that the call requests. If the export contains no secrets of a requested kind, then the source
   * has none.
   */
  readonly asked?: SecretSelection | undefined;
}

/** A place that is a file ignores these options, because the command always reads a file completely. */
export interface PlaceExportOptions extends ExportRequestOptions, CallOptions {
  /**
   * Called for each organisation that the place fails to export. If this function is absent, the first failure ends the
   * export.
   */
  readonly onUnexported?: (organisation: UnexportedOrganisation) => void;
  /**
   * Whether the export contains the organisations themselves without their records. Only instances of this service
   * support this option. They add `importedFrom` to each organisation.
   */
  readonly orgsOnly?: true;
}

export interface UnexportedOrganisation {
  readonly orgId: string;
  /** The message of the place's error, with a remedy. */
  readonly message: string;
}

type MirrorOptions = Pick<ImportRequestOptions, 'mirror' | 'maxDeleted' | 'replaceChanged'>;

export interface PlaceImportOptions
  extends Omit<ImportRequestOptions, keyof MirrorOptions>,
    Partial<MirrorOptions>,
    CallOptions {}

export type AcceptedLosses = Pick<CallOptions, 'accepted'>;

export function accepts({ accepted = [] }: AcceptedLosses, loss: AcceptableLoss): boolean {
  return accepted.includes(loss);
}

/** The content of an export. A caller can read the content once or repeatedly, and must dispose of this object. */
export interface ExportFile extends AsyncDisposable {
  /** Whether a caller may call `open` several times. Each call then yields the same bytes. */
  readonly isRepeatable: boolean;
  /** The number of bytes that `open` yields. Undefined if it is unknown before the content is read. */
  readonly size?: number | undefined;
  /** Descriptions of content that every export of the place leaves out. Absent for an instance of this service. */
  readonly losses?: readonly string[];
  /** Warnings about left-out or unknown content. The list grows while the caller reads the export. */
  readonly notices?: readonly RecordWarning[];
  /**
   * Present if `open` validates the content itself. It then passes the items of the content, such as records, to
   * `onItems`.
   */
  readonly isValidated?: true;
  /**
   * Reads the decompressed bytes of the export.
   * @param onItems receives the items of the export if `isValidated` is set
   * @throws IdentityError if the place stops sending before the end
   */
  open(signal: AbortSignal, onItems?: (items: readonly ExportFileItem[]) => void): AsyncIterable<Uint8Array>;
  /** An alternative to `open` for a caller that validates the export and its manifest in a single reading. */
  readonly once?: {
    /** Reads the bytes, but does not check them as `ExportFile.open` does. */
    open(signal: AbortSignal): AsyncIterable<Uint8Array>;
    /** Creates the place's own error about a damaged export. */
    damaged?(problem: string): Error;
  };
  /** Returns the fraction of the content that was read, from 0 to 1; undefined if the size is unknown. */
  fraction?(): number | undefined;
  /**
   * Called after the export has failed with the given error. Deletes the data that the place has stored for this
   * export. Returns the error, with a note if data could not be deleted.
   */
  deleteAfter?(error: unknown): Promise<unknown>;
}

export interface StoredFile {
  readonly place: string;
  readonly bytes: number;
  /** The generation of an object in Cloud Storage. Only objects have a generation and a checksum. */
  readonly generation?: string;
  readonly crc32c?: string;
}

interface Source {
  /** The place's name in messages. */
  readonly name: string;
  /** @throws IdentityError if the place cannot be read */
  readExport(options: PlaceExportOptions, signal: AbortSignal): Promise<ExportFile>;
}

/** A place that stores one export, such as a file or an object in Cloud Storage. */
export interface FilePlace extends Source {
  readonly takes: 'files';
  /**
   * Stores a new file. Compresses it if its name ends in `.gz`. The file appears under its name only after it is
   * complete.
   * @throws IdentityError if the file already exists, or if the place is full or not writable
   * @throws the error of reading `content`
   */
  store(content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StoredFile>;
  /** Throws an error if a file with the place's name already exists. Undefined if only `store` can check this. */
  requireFree?(signal: AbortSignal): Promise<void>;
}

/** In the phase `importing`, the target has received all content, and writes records. */
export type ImportPhase = 'sending' | 'reading' | 'comparing' | 'uploading' | 'importing';

export interface DoneRecords {
  readonly records: number;
  readonly total: number;
  /** The number of processed records that existed before the import. */
  readonly unchanged?: number;
  /** The number of processed bytes. If present, `total` is a number of bytes, otherwise a number of records. */
  readonly bytes?: number;
}

export interface ImportMeter {
  /**
   * Called at the start of each phase. Called again during a phase if another function `done` returns the progress from
   * then on.
   * @param done returns the progress. If absent, the progress is the share of the content that was read
   */
  readonly onPhase: (phase: ImportPhase, done?: () => DoneRecords) => void;
  /**
   * Called with another operation when the target begins to wait for the end of that operation. Called with undefined
   * when the wait ends.
   */
  readonly onWait: (holder: LockHolder | undefined) => void;
  /** Called once if the target expects that the timeout will interrupt the import. */
  readonly onExcess: (excess: NonNullable<ImportProgress['exceedsTimeout']>) => void;
  /** Called with the number of seconds after which an interrupted import will be repeated. */
  readonly onRetry: ProgressOutput['retry'];
}

/** A place that can export and import organisations: an instance, a database or ZITADEL. */
export interface DatabasePlace extends Source {
  readonly takes: 'imports';
  /** @throws IdentityError if the whole import fails. If only some records fail, the response lists their errors */
  import(
    content: ExportFile,
    options: PlaceImportOptions,
    meter: ImportMeter,
    signal: AbortSignal,
  ): Promise<ImportResponse>;
  /**
   * Prepares an import for a caller that reads the file only once, and uses this reading for both the dry run and the
   * import. Undefined for a place whose `import` reads the file itself.
   * @param database first receives the file's records from the prepared import. Later receives the target's records
   * from the caller
   */
  prepareImport?(database: RunDatabase, signal: AbortSignal): Promise<PreparedImport | undefined>;
  /**
   * Lists the organisations of the place. For ZITADEL, the list includes deleted organisations.
   * @throws IdentityError if the place cannot be read
   */
  organisations(signal: AbortSignal): Promise<readonly ListedOrganisation[]>;
  /**
   * Reads facts about the place, and which of the given operations the token permits. Changes nothing.
   * @throws IdentityError if the place is unreachable or not a known service, or if it rejects the token
   */
  facts(operations: readonly PlaceOperation[], signal: AbortSignal): Promise<PlaceFacts>;
}

/**
 * An import that `prepareImport` has prepared. As a visitor, it receives the file's records while the caller reads the
 * file.
 */
export interface PreparedImport extends RecordVisitor {
  /**
   * Imports the file, or makes a dry run.
   * @param read reads the file, or only returns the inspection if the caller has already read the file
   * @throws IdentityError if the whole import fails
   */
  import(
    read: (signal: AbortSignal) => Promise<Inspection>,
    options: PlaceImportOptions,
    meter: ImportMeter,
    signal: AbortSignal,
  ): Promise<ImportResponse>;
}

export interface ListedOrganisation {
  readonly orgId: string;
  readonly name: string;
  readonly isDeleted: boolean;
  /**
   * The id of the instance from which the organisation was imported. Undefined if the origin is unknown or was not this
   * service.
   */
  readonly importedFrom?: string | undefined;
  /** The id of the user who created the organisation in ZITADEL. */
  readonly createdBy?: string | undefined;
}

export type Place = FilePlace | DatabasePlace;

export type PlaceOperation = 'export' | 'import';

/** Facts about an instance, a database or ZITADEL. The descriptions begin in lower case and have no full stop. */
export interface PlaceFacts {
  readonly service: 'identity' | 'zitadel';
  readonly version: string | undefined;
  readonly instance: string | undefined;
  readonly defaultOrgId: string | undefined;
  /** The id of the instance. It is the same at all addresses of the instance. */
  readonly instanceId?: string | undefined;
  readonly defaultOrgName?: string;
  /** The domains of a ZITADEL instance, from which ZITADEL derives the domains of organisations. */
  readonly domains?: readonly string[];
  /** If the place is ZITADEL, the releases that it may have. */
  readonly releases?: ReleaseRange;
  /**
   * A text for the case that the command does not know ZITADEL's release. It explains which release the command
   * assumes, and why.
   */
  readonly assumption?: string;
  /** The user of the token, if known. */
  readonly caller?: {
    readonly userId: string;
    readonly orgId: string;
    /** The user's roles in the instance, such as IAM_OWNER. */
    readonly roles: readonly string[];
  };
  /** The requested operations that the token does not permit. */
  readonly denied: readonly PlaceOperation[];
  /** Texts about the place's limits for calls, and about how the command stays within these limits. */
  readonly limits?: readonly string[];
  /** The limits that an instance of this service publishes. */
  readonly callLimits?: Pick<StatedLimits, 'requestBytes' | 'responseBytes' | 'transfers'>;
  /** Descriptions of content that every export of the place leaves out. */
  readonly exportLosses: readonly string[];
  /**
   * Texts for plans. They describe how an import into the place differs from an import into an instance of this
   * service.
   */
  readonly importChanges?: readonly string[];
}

/**
 * Returns the facts that determine how ZITADEL imports records. These are the possible releases of ZITADEL, and whether
 * the import omits password hashes.
 */
export function importTarget(facts: Pick<PlaceFacts, 'releases'> | undefined, options: AcceptedLosses): ImportTarget {
  return { releases: facts?.releases ?? allReleases, omitsHashes: accepts(options, 'refused-hashes') };
}

export interface DescribedPlace {
  readonly place: Place;
  /** The facts about the place. Undefined if the place is a file or an object. */
  readonly facts: PlaceFacts | undefined;
}

/** Reads the facts about a place, and whether the token permits exports. Reads nothing for a file. */
export async function describePlace(place: Place, signal: AbortSignal): Promise<DescribedPlace> {
  return { place, facts: place.takes === 'imports' ? await place.facts(['export'], signal) : undefined };
}

/** @throws IdentityError USAGE_INVALID if both places are the same instance under two addresses */
export function requireOtherInstance(first: DescribedPlace, second: DescribedPlace): void {
  if (first.facts?.instanceId === undefined || first.facts.instanceId !== second.facts?.instanceId) return;
  const isOurs = first.facts.service === 'identity';
  const copy =
    '; if one of them is a copy that `identity restore` did not make, export the source to a file, then import the file';
  const problem = `${first.place.name} and ${second.place.name} are the same instance: specify two instances`;
  throw usageError(`${problem}${isOurs ? copy : ''}`);
}

/** The facts that a service publishes to callers without a token. */
export type Recognised = Pick<PlaceFacts, 'service' | 'version' | 'callLimits'>;
