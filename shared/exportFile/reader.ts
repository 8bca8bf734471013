// Reads the records of an export file as it arrives.

import { shortenedText } from '../errors/identityError.ts';
import {
  JsonError,
  type JsonPath,
  JsonScanner,
  parseJson,
  type ScannedValue,
  type Treatment,
} from '../json/jsonScanner.ts';
import type { ValueKind } from '../json/valueScanner.ts';
import { type OrganisationField, organisationFields } from '../organisation/record.ts';
import { exportFileLimits } from './manifest.ts';

/** The number of field names that an error lists, and the characters of each. */
const MAX_SHOWN_FIELDS = 5;
const MAX_SHOWN_CHARACTERS = 30;

/** An export file that can be read repeatedly. */
export interface ExportFileSource {
  /** The request's field that holds the file; undefined for a file that is the body, or in a bucket. */
  readonly field?: string;
  /** Whether the request holds the file, which can then be read once more without a transfer. */
  readonly isInRequest?: boolean;
  /** Whether the request names the file as one of v1. */
  readonly isV1?: boolean;
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** A record or a plain field of an organisation, or the file's manifest. */
export interface ExportFileItem extends Pick<ScannedValue, 'path' | 'names' | 'text'> {
  /** The organisation's position in the file; undefined for the manifest. */
  readonly organisation: number | undefined;
  readonly name: string;
}

/** Whether an organisation's field is read; other fields are skipped. */
export type FieldFilter = (name: string) => boolean;

/** A listener for an unknown field of the file or of an organisation, or one element of it if it is a list. */
export type OnUnknown = (name: string) => void;

/**
 * A streaming reader of export files (zitadel 2), v1 and v2, which holds at most one record. Unknown fields are skipped
 * (zitadel 1.1), whatever their size, and must be valid JSON.
 */
export class ExportFileReader {
  private readonly isWanted: FieldFilter;
  private readonly onUnknown: OnUnknown | undefined;
  private readonly scanner: JsonScanner;
  private seenFields = new Set<string>();
  /** The number of organisations that have started so far. */
  organisations = 0;
  /** The names of the first fields; a file without fields is an empty export. */
  private readonly firstFields: string[] = [];
  private hasOrganisations = false;

  constructor(isWanted: FieldFilter, onUnknown?: OnUnknown) {
    this.isWanted = isWanted;
    this.onUnknown = onUnknown;
    this.scanner = new JsonScanner((path, kind) => this.treat(path, kind), exportFileLimits);
  }

  /**
   * Returns the items that end in the chunk.
   * @throws JsonError
   */
  push(chunk: Uint8Array): ExportFileItem[] {
    return this.scanner.push(chunk).flatMap((value) => {
      const { path, kind, text } = value;
      if (!isKnown(path)) return this.skipUnknown(path, text);
      return text === 'null' && kind === 'scalar' ? skipNull(path) : toItems(value);
    });
  }

  /** @throws JsonError when the file is truncated, or has fields but no organisations (zitadel 4.2) */
  end(): void {
    this.scanner.end();
    if (this.firstFields.length === 0 || this.hasOrganisations) return;
    const names = this.firstFields.map((name) => shortenedText(name, MAX_SHOWN_CHARACTERS)).join(', ');
    throw new JsonError(
      ['orgs'],
      `missing list of organisations: expected {"orgs":[…]}; the file begins with ${names}`,
    );
  }

  private treat(path: JsonPath, kind: ValueKind): Treatment {
    switch (path.length) {
      case 0:
        return enter(path, kind === 'object', 'expected an object');
      case 1:
        return this.treatRoot(path, kind);
      case 2:
        if (path[0] !== 'orgs') return 'glance';
        this.organisations++;
        this.seenFields = new Set();
        return enter(path, kind === 'object', 'expected an object');
      case 3:
        return this.treatField(path, kind);
      default:
        return isKnown(path) ? 'keep' : 'glance';
    }
  }

  private treatRoot(path: JsonPath, kind: ValueKind): Treatment {
    if (this.firstFields.length < MAX_SHOWN_FIELDS) this.firstFields.push(String(path[0]));
    if (path[0] !== 'orgs') return path[0] === 'manifest' ? 'keep' : treatUnknown(kind);
    this.hasOrganisations = true;
    return kind === 'scalar' ? 'keep' : enter(path, kind === 'array', 'expected a list');
  }

  private skipUnknown(path: JsonPath, text: string): ExportFileItem[] {
    if (text !== '') parseJson(text, path);
    const name = path[0] === 'orgs' ? path[2] : path[0];
    if (name !== undefined && text !== 'null') this.onUnknown?.(String(name));
    return [];
  }

  private treatField(path: JsonPath, kind: ValueKind): Treatment {
    const field = findField(path);
    if (field === undefined) return treatUnknown(kind);
    if (this.seenFields.has(field.name)) throw new JsonError([...path], `duplicate field "${field.name}"`);
    this.seenFields.add(field.name);
    if (!this.isWanted(field.name)) return 'skip';
    if (!field.list || kind === 'scalar') return 'keep';
    return enter(path, kind === 'array', 'expected a list');
  }
}

function findField(path: JsonPath): OrganisationField | undefined {
  return organisationFields.get(String(path[2]));
}

function isKnown(path: JsonPath): boolean {
  if (path.length === 1) return path[0] === 'orgs' || path[0] === 'manifest';
  return path[0] === 'orgs' && findField(path) !== undefined;
}

/** Enters unknown lists, which may be long, so that their elements are checked one by one. */
function treatUnknown(kind: ValueKind): Treatment {
  return kind === 'array' ? 'enter' : 'glance';
}

function enter(path: JsonPath, allowed: boolean, message: string): Treatment {
  if (!allowed) throw new JsonError([...path], message);
  return 'enter';
}

/** Skips `null`, which is an unset field; as an element of a list it is an error (zitadel 1.1). */
function skipNull(path: JsonPath): ExportFileItem[] {
  if (path.length === 4) throw new JsonError(path, 'unexpected null in a list');
  return [];
}

function toItems({ path, names, text }: ScannedValue): ExportFileItem[] {
  if (path.length === 1) {
    if (path[0] === 'orgs') throw new JsonError(path, 'expected a list');
    return path[0] === 'manifest' && text !== ''
      ? [{ organisation: undefined, name: 'manifest', path, names, text }]
      : [];
  }
  const field = findField(path);
  if (field === undefined || text === '') return [];
  if (field.list && path.length === 3) throw new JsonError(path, 'expected a list');
  return [{ organisation: Number(path[1]), name: field.name, path, names, text }];
}
