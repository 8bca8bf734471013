import { shortenedText } from '../errors/identityError.ts';
import { JsonError, type JsonPath } from '../json/jsonError.ts';
import { JsonSplitter, type SplitValue, type Treatment, uniqueValue, type ValueKind } from '../json/splitter.ts';
import { type OrganisationField, organisationFields } from '../organisation/recordSchema.ts';
import { exportFileLimits } from './manifest.ts';
import { START_BYTES, wrongFile } from './wrongFile.ts';

const MAX_SHOWN_FIELDS = 5;
const MAX_SHOWN_CHARACTERS = 30;

const TRUNCATED = 'unexpected end of JSON input: the file is truncated';

/** The source of an export file. Each call of `open` reads the file from the start. */
export interface ExportFileSource {
  /** The field of the request that contains the file; undefined if the file is the whole body, or in a bucket. */
  readonly field?: string;
  /** Whether the request contains the file, so that another read needs no download. */
  readonly isInRequest?: boolean;
  readonly isV1?: boolean;
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** What the reader returns: a record or another field of an organisation, or the file's manifest. */
export interface ExportFileItem extends Pick<SplitValue, 'path' | 'names' | 'text' | 'value'> {
  /** The position of the organisation's entry in `orgs`; undefined for the manifest. */
  readonly organisation: number | undefined;
  readonly name: string;
  /** Present if the value exceeds the size limit, so that `text` and `value` are missing. */
  readonly isTooLarge?: true;
}

/** The reader skips a field for which the filter returns false. */
export type FieldFilter = (name: string) => boolean;

interface ReadingOptions {
  /** Whether the caller needs only the paths of records. The items then have no text and no value. */
  readonly findsOnly?: boolean;
  /**
   * Whether the caller itself parses the records in lists, with `parseHeld`. The items of these records then have no
   * value.
   */
  readonly holdsRecords?: boolean;
  readonly isSkipped?: ((path: JsonPath) => boolean) | undefined;
  readonly onUnknown?: OnUnknown | undefined;
}

/**
 * Receives the name of an unknown field in the file or in an organisation. For an unknown list, receives the name once
 * per element.
 */
export type OnUnknown = (name: string) => void;

/**
 * A streaming reader of export files, in both forms of ZITADEL's organisation document, v1 and v2 (zitadel 2.1). The
 * reader keeps at most one record in memory. It checks the syntax of unknown fields and ignores them (zitadel 1.1).
 * Unknown fields may have any size, because the reader checks the values in an unknown list or object one by one.
 */
export class ExportFileReader {
  private readonly isWanted: FieldFilter;
  private readonly onUnknown: OnUnknown | undefined;
  private readonly findsOnly: boolean;
  private readonly holdsRecords: boolean;
  private readonly isSkipped: (path: JsonPath) => boolean;
  private readonly splitter: JsonSplitter;
  private seenFields = new Set<string>();
  /** The number of entries in `orgs` that have started so far. */
  organisations = 0;
  /**
   * The names of the file's first fields, for the error about a file that lacks `orgs`. A file without any field is a
   * valid, empty export.
   */
  private readonly firstFields: string[] = [];
  private hasOrganisations = false;
  /** The first bytes of the file, which show whether the file is of another kind. */
  private start: Buffer = Buffer.alloc(0);

  /**
   * @param isWanted returns whether to read a field. A caller that skips unknown fields must have validated the whole
   *   file before.
   */
  constructor(isWanted: FieldFilter, options: ReadingOptions = {}) {
    const { findsOnly = false, holdsRecords = false, isSkipped = () => false, onUnknown } = options;
    this.isWanted = isWanted;
    this.findsOnly = findsOnly;
    this.holdsRecords = holdsRecords;
    this.isSkipped = isSkipped;
    this.onUnknown = onUnknown;
    this.splitter = new JsonSplitter((path, kind) => this.treat(path, kind), exportFileLimits);
  }

  /**
   * Returns the items that end in the chunk.
   * @throws JsonError if the file is invalid
   */
  push(chunk: Uint8Array): ExportFileItem[] {
    const missing = START_BYTES - this.start.length;
    if (missing > 0) this.start = Buffer.concat([this.start, chunk.subarray(0, missing)]);
    try {
      const items: ExportFileItem[] = [];
      for (const value of this.splitter.push(chunk)) {
        const item = this.toItem(value);
        if (item !== undefined) items.push(item);
      }
      return items;
    } catch (error) {
      throw this.explained(error);
    }
  }

  /** @throws JsonError if the file is truncated, or has fields but no `orgs` (zitadel 4.2) */
  end(): void {
    try {
      this.splitter.end();
    } catch (error) {
      throw this.explained(error instanceof JsonError ? new JsonError(error.path, TRUNCATED) : error);
    }
    if (this.firstFields.length > 0 && !this.hasOrganisations)
      throw this.explained(missingOrganisations(this.firstFields));
  }

  private explained(error: unknown): unknown {
    return error instanceof JsonError && !this.hasOrganisations ? (wrongFile(this.start) ?? error) : error;
  }

  private treat(path: JsonPath, kind: ValueKind): Treatment {
    switch (path.length) {
      case 0:
        return enter(path, kind === 'object', 'expected an object {"orgs":[…]}');
      case 1:
        return this.treatRoot(path, kind);
      case 2:
        if (path[0] !== 'orgs') return 'keep';
        this.organisations++;
        this.seenFields = new Set();
        return enter(path, kind === 'object', 'expected an object');
      case 3:
        return this.treatField(path, kind);
      default:
        if (findField(path) === undefined) return 'keep';
        if (this.isSkipped(path)) return 'skip';
        return this.holdsRecords && kind === 'object' ? 'hold' : this.treatRecord(kind);
    }
  }

  private treatRoot(path: JsonPath, kind: ValueKind): Treatment {
    const name = String(path[0]);
    if (this.firstFields.length < MAX_SHOWN_FIELDS) this.firstFields.push(name);
    if (name === 'manifest') return 'keep';
    if (name !== 'orgs') return this.treatUnknown(name, kind);
    this.hasOrganisations = true;
    return kind === 'scalar' ? 'keep' : enter(path, kind === 'array', 'expected a list');
  }

  private treatField(path: JsonPath, kind: ValueKind): Treatment {
    const field = findField(path);
    if (field === undefined) return this.treatUnknown(String(path[2]), kind);
    if (this.seenFields.has(field.name)) throw new JsonError([...path], `duplicate field "${field.name}"`);
    this.seenFields.add(field.name);
    if (!this.isWanted(field.name)) return 'skip';
    if (field.list) return kind === 'scalar' ? 'keep' : enter(path, kind === 'array', 'expected a list');
    // Keep the id even if `findsOnly` is set, because the entry's other fields belong to the organisation with this id.
    return field.name === 'orgId' ? 'keep' : this.treatRecord(kind);
  }

  /** Does not skip a scalar, such as `null`, because the caller must reject it with the record's path. */
  private treatRecord(kind: ValueKind): Treatment {
    return this.findsOnly && kind !== 'scalar' ? 'skip' : 'glance';
  }

  /** Enters unknown lists and objects, because a whole list or object can be too large to keep. */
  private treatUnknown(name: string, kind: ValueKind): Treatment {
    if (!this.isWanted(name)) return 'skip';
    if (kind === 'object') this.onUnknown?.(name);
    return 'enter';
  }

  /** Converts a value to an item. Returns undefined for an unknown field, and for a field with the value `null`. */
  private toItem({ path, names, text, value }: SplitValue): ExportFileItem | undefined {
    const field = findField(path);
    if (text === '') return field && this.withoutText({ path, names, text, value }, field);
    if (path[0] === 'manifest')
      return value === null ? undefined : { path, names, text, value, organisation: undefined, name: 'manifest' };
    const isList = path.length === 1 ? path[0] === 'orgs' : field?.list === true && path.length === 3;
    if (isList) return expectNull(path, value);
    if (field === undefined) return this.countUnknown(path, uniqueValue({ path, names, text, value }));
    // As the value of a field, `null` means that the field is absent. As an element of a list, `null` is an invalid
    // record, so return it: the import lists it as an error.
    if (value === null && !field.list) return undefined;
    return { path, names, text, value, organisation: Number(path[1]), name: field.name };
  }

  private withoutText(
    split: Pick<SplitValue, 'path' | 'names' | 'text' | 'value'>,
    { name }: OrganisationField,
  ): ExportFileItem | undefined {
    const { path } = split;
    if (!this.isWanted(name) || this.isSkipped(path)) return undefined;
    const item = { ...split, organisation: Number(path[1]), name };
    return this.findsOnly ? item : { ...item, isTooLarge: true };
  }

  /** Does not count an unknown object, because `treatUnknown` has already counted it. */
  private countUnknown(path: JsonPath, value: unknown): undefined {
    const [name, element] = path[0] === 'orgs' ? path.slice(2) : path;
    if (value !== null && typeof element !== 'string') this.onUnknown?.(String(name));
  }
}

function missingOrganisations(firstFields: readonly string[]): JsonError {
  const names = firstFields.map((name) => shortenedText(name, MAX_SHOWN_CHARACTERS)).join(', ');
  return new JsonError(['orgs'], `missing list of organisations: expected {"orgs":[…]}; the file begins with ${names}`);
}

function findField(path: JsonPath): OrganisationField | undefined {
  return path[0] === 'orgs' ? organisationFields.get(String(path[2])) : undefined;
}

function enter(path: JsonPath, isAllowed: boolean, message: string): Treatment {
  if (!isAllowed) throw new JsonError([...path], message);
  return 'enter';
}

/** `null` in place of a list means that the field is not set (zitadel 1.1). */
function expectNull(path: JsonPath, value: unknown): undefined {
  if (value !== null) throw new JsonError(path, 'expected a list');
}
