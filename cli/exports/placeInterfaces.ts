// The interfaces of places: files and databases, their options and their facts.

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

/** The options of a call that are not part of the request. */
interface CallOptions {
  /** In milliseconds; by default the limit of the place. */
  readonly timeoutMs?: number | undefined;
  /** The losses in ZITADEL that the call accepts. They are not errors. */
  readonly accepted?: readonly AcceptableLoss[] | undefined;
  /** The requested secrets. If the file contains no secret of a requested kind, the source has none. */
  readonly asked?: SecretSelection | undefined;
}

/** The options of an export. They have no effect on a file, which the command always reads completely. */
export interface PlaceExportOptions extends ExportRequestOptions, CallOptions {
  /** Called for an organisation that the place fails to export; by default, the export ends with that error. */
  readonly onUnexported?: (organisation: UnexportedOrganisation) => void;
  /** Whether an instance of this service exports its organisations without their records, and with `importedFrom`. */
  readonly orgsOnly?: true;
}

/** An organisation that a place fails to export. */
export interface UnexportedOrganisation {
  readonly orgId: string;
  /** The place's error, and the remedy. */
  readonly message: string;
}

type MirrorOptions = Pick<ImportRequestOptions, 'mirror' | 'maxDeleted' | 'replaceChanged'>;

/** The options of an import into an instance or a database. */
export interface PlaceImportOptions
  extends Omit<ImportRequestOptions, keyof MirrorOptions>,
    Partial<MirrorOptions>,
    CallOptions {}

/** The options of a call that state which losses it accepts. */
export type AcceptedLosses = Pick<CallOptions, 'accepted'>;

/** Whether a call accepts a loss. */
export function accepts({ accepted = [] }: AcceptedLosses, loss: AcceptableLoss): boolean {
  return accepted.includes(loss);
}

/** An export file that a place provides. The caller disposes of it. */
export interface ExportFile extends AsyncDisposable {
  /** Whether `open` may be called repeatedly and always returns the same bytes. */
  readonly isRepeatable: boolean;
  /** The number of bytes that `open` yields, if it is known in advance. */
  readonly size?: number | undefined;
  /** The content that every export of the place omits, if it is another service. */
  readonly losses?: readonly string[];
  /** Warnings so far about omitted or unknown content, such as a warning per organisation. */
  readonly notices?: readonly RecordWarning[];
  /** Whether `open` validates the file, and passes its items to `onItems`. */
  readonly isValidated?: true;
  /**
   * Reads the file's bytes, decompressed.
   * @param onItems receives the items of a validated file
   * @throws IdentityError if the place stops sending
   */
  open(signal: AbortSignal, onItems?: (items: readonly ExportFileItem[]) => void): AsyncIterable<Uint8Array>;
  /** Present for an export that its reader can validate in one pass, with its manifest. */
  readonly once?: {
    /** Reads the bytes, without the checks of the other `open`. */
    open(signal: AbortSignal): AsyncIterable<Uint8Array>;
    /** Returns the place's own error for a damaged export. */
    damaged?(problem: string): Error;
  };
  /** Returns the fraction of the file that was read, from 0 to 1; undefined if the size is unknown. */
  fraction?(): number | undefined;
  /**
   * Deletes the data that the place stores for a failed reading, as the disposal does. Returns the error, which lists
   * the data that could not be deleted.
   */
  deleteAfter?(error: unknown): Promise<unknown>;
}

/** A file that a place has stored. */
export interface StoredFile {
  readonly place: string;
  readonly bytes: number;
  /** The object's generation and checksum. */
  readonly generation?: string;
  readonly crc32c?: string;
}

interface Source {
  /** The place's name in messages. */
  readonly name: string;
  /** @throws IdentityError */
  readExport(options: PlaceExportOptions, signal: AbortSignal): Promise<ExportFile>;
}

/** A place for a file. */
export interface FilePlace extends Source {
  readonly takes: 'files';
  /**
   * Stores a new file, compressed if its name ends in `.gz`. It appears under its name when it is complete.
   * @throws IdentityError if the name exists, or the place is not writable or full; the errors of `content`
   */
  store(content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StoredFile>;
  /** Requires that the name is free, if that can be checked in advance. */
  requireFree?(signal: AbortSignal): Promise<void>;
}

/** The phases of an import. Only in the last phase, the target writes without further content from this process. */
export type ImportPhase = 'sending' | 'reading' | 'comparing' | 'uploading' | 'importing';

/** The progress of a phase: the number of completed records, and the total. */
export interface DoneRecords {
  readonly records: number;
  readonly total: number;
  /** The number of completed records that existed before the import. */
  readonly unchanged?: number;
  /** The number of bytes, in a phase whose total is measured in bytes. */
  readonly bytes?: number;
}

/** Receives the progress of an import. */
export interface ImportMeter {
  /**
   * Called at the start of each phase, and whenever a new function returns the progress of the phase.
   * @param done returns the progress; by default that of reading the content
   */
  readonly onPhase: (phase: ImportPhase, done?: () => DoneRecords) => void;
  /**
   * Called with the other operation when the target waits for it before it writes, and with undefined when the wait
   * ends.
   */
  readonly onWait: (holder: LockHolder | undefined) => void;
  /** Called once if the target expects that its timeout will interrupt the import. */
  readonly onExcess: (excess: NonNullable<ImportProgress['exceedsTimeout']>) => void;
  /** Called before a retry of an interrupted import, with the seconds until then. */
  readonly onRetry: ProgressOutput['retry'];
}

/** A place with a database: it exports and imports organisations. */
export interface DatabasePlace extends Source {
  readonly takes: 'imports';
  /** @throws IdentityError */
  import(
    content: ExportFile,
    options: PlaceImportOptions,
    meter: ImportMeter,
    signal: AbortSignal,
  ): Promise<ImportResponse>;
  /**
   * Prepares an import of a file that the caller reads once, for the dry run and the import. Undefined for a place that
   * reads the file itself.
   * @param database contains the records of the place once they were read; the import adds those of the file
   */
  prepareImport?(database: RunDatabase, signal: AbortSignal): Promise<PreparedImport | undefined>;
  /**
   * Lists all organisations. For ZITADEL, includes deleted organisations.
   * @throws IdentityError
   */
  organisations(signal: AbortSignal): Promise<readonly ListedOrganisation[]>;
  /**
   * Reads facts about the place, and the operations that its token permits. Changes nothing.
   * @throws IdentityError for an unreachable place, an unknown service or a rejected token
   */
  facts(operations: readonly PlaceOperation[], signal: AbortSignal): Promise<PlaceFacts>;
}

/** A prepared import, which receives the records of the file. */
export interface PreparedImport extends RecordVisitor {
  /**
   * Imports the file, or does a dry run.
   * @param read reads the file, unless a dry run has read it
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
  /** Whether ZITADEL has deleted it. */
  readonly isDeleted: boolean;
  /** The id of the instance of this service that exported it before an import created it here; undefined if unknown. */
  readonly importedFrom?: string | undefined;
  /** The user in ZITADEL who created it. */
  readonly createdBy?: string | undefined;
}

/** A place: the source or the target of organisations. */
export type Place = FilePlace | DatabasePlace;

/** An operation of a place with a database, which its token must permit. */
export type PlaceOperation = 'export' | 'import';

/** Facts about a place with a database, shown before a migration. Sentences are lower-case fragments without a full stop. */
export interface PlaceFacts {
  readonly service: 'identity' | 'zitadel';
  /** The release, if it is known. */
  readonly version: string | undefined;
  /** The instance's name, if it is known. */
  readonly instance: string | undefined;
  readonly defaultOrgId: string | undefined;
  /** The instance's id, if it is known. It is the same at all addresses of the instance. */
  readonly instanceId?: string | undefined;
  /** The default organisation's name, if it is known. */
  readonly defaultOrgName?: string;
  /** The domains of the ZITADEL instance. ZITADEL derives the domains of organisations from them. */
  readonly domains?: readonly string[];
  /** The releases that ZITADEL may have. */
  readonly releases?: ReleaseRange;
  /** What the command assumes about a release of ZITADEL that it does not know, and why. */
  readonly assumption?: string;
  /** The user of the token; undefined if the user is unknown. */
  readonly caller?: {
    readonly userId: string;
    /** The organisation that the user belongs to. */
    readonly orgId: string;
    /** The roles in the instance, such as IAM_OWNER. */
    readonly roles: readonly string[];
  };
  /** The requested operations that the token does not permit. */
  readonly denied: readonly PlaceOperation[];
  /** The limits of calls of the place, and how the command complies with them. */
  readonly limits?: readonly string[];
  /** The limits that an instance of this service publishes. */
  readonly callLimits?: Pick<StatedLimits, 'requestBytes' | 'responseBytes' | 'transfers'>;
  /** The content that every export omits. */
  readonly exportLosses: readonly string[];
  /** How every import differs from an import into an instance of this service. */
  readonly importChanges?: readonly string[];
}

/** Describes a place as the target of an import. */
export function importTarget(facts: Pick<PlaceFacts, 'releases'> | undefined, options: AcceptedLosses): ImportTarget {
  return { releases: facts?.releases ?? allReleases, omitsHashes: accepts(options, 'refused-hashes') };
}

/** A place with its facts. */
export interface DescribedPlace {
  readonly place: Place;
  /** Undefined for a file or an object. */
  readonly facts: PlaceFacts | undefined;
}

/** Reads the facts about a place from which a call exports. */
export async function describePlace(place: Place, signal: AbortSignal): Promise<DescribedPlace> {
  return { place, facts: place.takes === 'imports' ? await place.facts(['export'], signal) : undefined };
}

/**
 * Requires that two places are not the same instance under two names.
 * @throws IdentityError USAGE_INVALID if they are
 */
export function requireOtherInstance(first: DescribedPlace, second: DescribedPlace): void {
  if (first.facts?.instanceId === undefined || first.facts.instanceId !== second.facts?.instanceId) return;
  const isOurs = first.facts.service === 'identity';
  const copy = '; if one is a copy of the other that identity restore did not make, export to a file first';
  const problem = `${first.place.name} and ${second.place.name} are the same instance: specify two instances`;
  throw usageError(`${problem}${isOurs ? copy : ''}`);
}

/** The service at an address, as it describes itself without authentication. */
export type Recognised = Pick<PlaceFacts, 'service' | 'version' | 'callLimits'>;
