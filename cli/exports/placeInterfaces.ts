// The interfaces of places: files and databases, their options and their facts.

import type { ExportRequestOptions } from '../../functions/export/contract.ts';
import type { ImportRequestOptions, ImportResponse } from '../../functions/import/contract.ts';
import { total } from '../../shared/collections/counts.ts';
import type { SecretSelection } from '../../shared/exportFile/secretSelection.ts';
import type { StatedLimits } from '../../shared/limits.ts';
import { UsageError } from '../command.ts';

/** The options of a call of a place that no request has. */
interface CallOptions {
  /** Milliseconds; by default the longest that the place allows. */
  readonly timeoutMs?: number | undefined;
  /** What states count as that a ZITADEL does not return; by default, the export ends with an error. */
  readonly unknownStates?: 'active' | undefined;
  /** The secrets that were asked for: the source has none of those that the file lacks. */
  readonly asked?: SecretSelection | undefined;
  /** What becomes of password hashes for which a ZITADEL may refuse the person; by default they are sent. */
  readonly refusedHashes?: 'omit' | undefined;
}

/** What a place with a database exports. A file is always read whole. */
export interface PlaceExportOptions extends ExportRequestOptions, CallOptions {
  /** Takes an organisation that the place fails to export; by default, the export ends with that error. */
  readonly onUnexported?: (organisation: UnexportedOrganisation) => void;
}

/** An organisation that a place has and fails to export. */
export interface UnexportedOrganisation {
  readonly orgId: string;
  /** What the place said, and what to do. */
  readonly message: string;
}

/** How an instance or a database imports. */
export interface PlaceImportOptions extends ImportRequestOptions, CallOptions {}

/**
 * Requires that an import into another place than a ZITADEL has no option for ZITADELs.
 * @throws UsageError
 */
export function requireNoneForZitadel({ refusedHashes }: Pick<PlaceImportOptions, 'refusedHashes'>): void {
  if (refusedHashes === undefined) return;
  throw new UsageError('--refused-hashes applies only to a ZITADEL as the target');
}

/** An export file that a place provides. The caller disposes of it. */
export interface ExportFile extends AsyncDisposable {
  /** Whether `open` may be called again, and then returns the same bytes. */
  readonly isRepeatable: boolean;
  /** What the place leaves out of every export, where it is another service. */
  readonly losses?: readonly string[];
  /** The states that a ZITADEL did not return, as far as the file is read: a sentence for each organisation. */
  readonly missingStates?: readonly string[];
  /**
   * Reads the file's bytes, decompressed.
   * @throws IdentityError when the place breaks off before their end
   */
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** The share of the file that is read so far, from 0 to 1, where the place knows its size. */
  fraction?(): number | undefined;
}

/** What a place has stored. */
export interface StoredFile {
  readonly place: string;
  readonly bytes: number;
  /** The object's generation and checksum. */
  readonly generation?: string;
  readonly crc32c?: string;
}

interface Source {
  /** How messages call the place. */
  readonly name: string;
  /** @throws IdentityError */
  readExport(options: PlaceExportOptions, signal: AbortSignal): Promise<ExportFile>;
}

/** A place for files: it stores them as they are, and exports what it holds. */
export interface FilePlace extends Source {
  readonly takes: 'files';
  /**
   * Stores a new file, compressed if its name ends in `.gz`. It appears under its name when it is complete.
   * @throws IdentityError when the name is taken, the place cannot be written or has no space; the errors of `content`
   */
  store(content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StoredFile>;
  /** Checks before the work that the name is free, where that is possible. */
  requireFree?(signal: AbortSignal): Promise<void>;
  /**
   * Removes the stored file, where it is not the person's own.
   * @throws IdentityError when the place does not permit that
   */
  remove?(signal: AbortSignal): Promise<void>;
}

/** How far the target of an import has come: how many records of how many it has settled. */
export interface ImportSettled {
  readonly records: number;
  /** How many of the records were there before. */
  readonly unchanged: number;
  readonly total: number;
}

/** What an import reports while it runs. */
export interface ImportMeter {
  /** Takes what happens to the content before the target writes. */
  readonly onBegun: (phase: 'sending' | 'reading' | 'comparing') => void;
  /** Takes a function that returns how far the target has come; called once the target begins to write. */
  readonly onStarted: (settled: () => ImportSettled) => void;
}

/** Returns the numbers of records that an import has settled, by its counts by outcome: those that it takes at all. */
export function countSettled({
  created = {},
  unchanged = {},
  overwritten = {},
  skipped = {},
  failed = {},
}: Partial<ImportResponse['summary']>): Omit<ImportSettled, 'total'> {
  const records = [created, unchanged, overwritten, skipped, failed].reduce((sum, counts) => sum + total(counts), 0);
  return { records, unchanged: total(unchanged) };
}

/** A place with a database: it exports and imports organisations. */
export interface DatabasePlace extends Source {
  readonly takes: 'imports';
  /** Whether a server answers, of this service or another. */
  readonly isRemote?: true;
  /** @throws IdentityError */
  import(
    content: ExportFile,
    options: PlaceImportOptions,
    meter: ImportMeter,
    signal: AbortSignal,
  ): Promise<ImportResponse>;
  /**
   * Asks the place about itself, and whether its token permits some operations. Nothing is moved.
   * @throws IdentityError for a place that cannot be reached, is another service, or rejects the token
   */
  facts(operations: readonly PlaceOperation[], signal: AbortSignal): Promise<PlaceFacts>;
}

/** A place: the source or the target of organisations. */
export type Place = FilePlace | DatabasePlace;

/** What a place with a database does, and its token may not permit. */
export type PlaceOperation = 'export' | 'import';

/** The user of a place's token. */
interface PlaceCaller {
  readonly userId: string;
  /** The organisation that the user belongs to. */
  readonly orgId: string;
  /** The roles in the instance, such as IAM_OWNER. */
  readonly roles: readonly string[];
}

/** What a place with a database says of itself before a migration. Its sentences begin small and end without a stop. */
export interface PlaceFacts {
  readonly service: 'identity' | 'zitadel';
  /** The release, where the place tells it. */
  readonly version: string | undefined;
  /** The instance's name, where the place tells it. */
  readonly instance: string | undefined;
  readonly defaultOrgId: string | undefined;
  /** The instance's id, the same at all its addresses, where the place tells it. */
  readonly instanceId?: string | undefined;
  /** The default organisation's name, where the place tells it. */
  readonly defaultOrgName?: string;
  /** The domains of a ZITADEL's instance, of which it makes those of its organisations. */
  readonly domains?: readonly string[];
  /** Whether a ZITADEL imports and exports the states of organisations and users: releases 2 and 3 do not. */
  readonly importsStates?: boolean;
  /** Whether a ZITADEL may refuse people for their password hashes: releases since June 2026 do. */
  readonly refusesHashes?: boolean;
  /** Undefined where the place does not tell it. */
  readonly caller?: PlaceCaller;
  /** Those of the asked operations that the token does not permit. */
  readonly denied: readonly PlaceOperation[];
  /** How far this machine's clock is ahead of the place's; undefined where the place does not tell its time. */
  readonly clockAheadMs?: number | undefined;
  /** What limits a call of the place, and how the command keeps it. */
  readonly limits?: readonly string[];
  /** The limits that an instance of this service states. */
  readonly callLimits?: Pick<StatedLimits, 'requestBytes' | 'responseBytes'>;
  /** What every export leaves out. */
  readonly exportLosses: readonly string[];
  /** What every import does otherwise than an instance of this service. */
  readonly importChanges?: readonly string[];
}

/** A place, and what it says of itself. */
export interface DescribedPlace {
  readonly place: Place;
  /** Undefined for a file or an object. */
  readonly facts: PlaceFacts | undefined;
}

/**
 * Requires that two places are not one instance with two names.
 * @throws UsageError
 */
export function requireOtherInstance(first: DescribedPlace, second: DescribedPlace): void {
  if (first.facts?.instanceId === undefined || first.facts.instanceId !== second.facts?.instanceId) return;
  const isOurs = first.facts.service === 'identity';
  const copy = '; from a copy of a database that identity restore did not make, export to a file first';
  const problem = `${first.place.name} and ${second.place.name} are one instance: specify two`;
  throw new UsageError(`${problem}${isOurs ? copy : ''}`);
}

/** The service that answers at an address, as far as it describes itself to everybody. */
export interface Recognised extends Pick<PlaceFacts, 'service' | 'version' | 'clockAheadMs' | 'callLimits'> {
  /** Whether an instance of this service takes a file as the body of an import. */
  readonly takesFiles?: boolean;
}

/** Returns how far this machine's clock is ahead of the Date header that a server has just sent; undefined without one. */
export function clockAhead(date: string | undefined): number | undefined {
  const time = Date.parse(date ?? '');
  return Number.isNaN(time) ? undefined : Date.now() - time;
}

/** The Date header of a response has whole seconds, and the response takes its time. */
const TOLERATED_CLOCK_MS = 5_000;

/** Says how this machine's clock stands to another's. */
export function compareClocks(aheadMs: number, other: string) {
  if (Math.abs(aheadMs) <= TOLERATED_CLOCK_MS)
    return { status: 'ok', message: `this machine and ${other} have the same time` } as const;
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  const message = `this machine is ${seconds} s ${direction} ${other}: let NTP set both clocks`;
  return { status: 'warning', message } as const;
}
