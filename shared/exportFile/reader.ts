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
  /**
   * The field of the request that contains the file. Absent if the file is the whole body of the request, or is in a
   * bucket.
   */
  readonly field?: string;
  /** True if the request contains the file, so that the file can be read a second time without a download. */
  readonly isInRequest?: boolean;
  readonly isV1?: boolean;
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** What the reader returns: a record or another field of an organisation, or the file's manifest. */
export interface ExportFileItem extends Pick<SplitValue, 'path' | 'names' | 'text' | 'value'> {
  /** The position in `orgs` of the entry that contains the item; undefined for the manifest. */
  readonly organisation: number | undefined;
  readonly name: string;
  /** Present if the value exceeds the size limit. The item then has an empty `text` and no `value`. */
  readonly isTooLarge?: true;
}

/** Returns whether the reader must read the field with this name. If not, the reader skips the field. */
export type FieldFilter = (name: string) => boolean;

interface ReadingOptions {
  /** True if the caller needs only the paths of records. The reader then returns records without text and value. */
  readonly findsOnly?: boolean;
  /**
   * True if the caller parses the elements of lists of records itself, with `parseHeld`. The reader then returns these
   * records without value.
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
 * Reads an export file in chunks, in either form of ZITADEL's organisation document: v1 or v2 (zitadel 2.1). Keeps at
 * most one record in memory. Checks the syntax of unknown fields, and ignores them (zitadel 1.1). Unknown fields may
 * have any size, because the reader checks the values in an unknown list or object one by one.
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
   * The names of the file's first fields, for the error about a file without `orgs`. A file without any field is valid:
   * it is an empty export.
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
    // Return the id of an organisation even if `findsOnly` is set, because the caller must know to which organisation
    // the entry's other fields belong.
    return field.name === 'orgId' ? 'keep' : this.treatRecord(kind);
  }

  /**
   * Returns how to process a record. A scalar in place of a record, such as `null`, is not skipped, because the caller
   * must report it with its path.
   */
  private treatRecord(kind: ValueKind): Treatment {
    return this.findsOnly && kind !== 'scalar' ? 'skip' : 'glance';
  }

  /**
   * Returns how to process an unknown field. Splits unknown lists and objects, because a whole list or object can be
   * too large to keep.
   */
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
    // A field with the value `null` counts as absent. But an element of a list that is `null` is an invalid record, so
    // return it: the import reports it as an error.
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

  /** Counts an unknown field. Does not count an object, because `treatUnknown` has already counted it. */
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

/** Accepts `null` in place of a list, which means that the field is absent (zitadel 1.1). */
function expectNull(path: JsonPath, value: unknown): undefined {
  if (value !== null) throw new JsonError(path, 'expected a list');
}
