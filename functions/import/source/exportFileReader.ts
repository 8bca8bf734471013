import { JsonError, type JsonPath, JsonScanner, parseJson, type Treatment } from '../../../shared/json/jsonScanner.ts';
import type { ValueKind } from '../../../shared/json/valueScanner.ts';
import { type OrganisationField, organisationFields } from '../../../shared/organisation/record.ts';
import { MAX_DOCUMENT_BYTES } from '../../../shared/store/store.ts';

/** One record, or one plain field, of an organisation document. */
export interface ExportFileItem {
  /** Position of the organisation in the document; undefined for the document's manifest. */
  readonly organisation: number | undefined;
  readonly name: string;
  readonly path: JsonPath;
  /** The JSON of the value. */
  readonly text: string;
}

/** Which fields of an organisation are wanted; the others are passed over. */
export type Wanted = (name: string) => boolean;

/**
 * Reads an organisation document (zitadel 2), in either shape, from bytes that arrive in pieces. At most one record is
 * held. Unknown fields are passed over (zitadel 1.1), whatever their size; as far as they could be held, they too must
 * be JSON.
 */
export class ExportFileReader {
  private readonly wanted: Wanted;
  private readonly scanner: JsonScanner;
  private seen = new Set<string>();
  /** How many organisations have begun so far. */
  organisations = 0;
  /** Whether there was any field beside the organisations: a document without one is an export of nothing. */
  private hasFields = false;
  private hasOrganisations = false;

  constructor(wanted: Wanted) {
    this.wanted = wanted;
    this.scanner = new JsonScanner((path, kind) => this.treat(path, kind), MAX_DOCUMENT_BYTES);
  }

  /** @throws JsonFault */
  push(chunk: Uint8Array): ExportFileItem[] {
    return this.scanner.push(chunk).flatMap(({ path, kind, text }) => {
      if (!isKnown(path)) return unknown(path, text);
      return text === 'null' && kind === 'scalar' ? none(path) : item(path, text);
    });
  }

  /** @throws JsonFault when the document ended too early, or holds something else than organisations (zitadel 4.2) */
  end(): void {
    this.scanner.end();
    if (this.hasFields && !this.hasOrganisations) throw new JsonError(['orgs'], 'missing list of organisations');
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
        this.seen = new Set();
        return enter(path, kind === 'object', 'expected an object');
      case 3:
        return this.treatField(path, kind);
      default:
        return isKnown(path) ? 'keep' : 'glance';
    }
  }

  private treatRoot(path: JsonPath, kind: ValueKind): Treatment {
    this.hasFields = true;
    if (path[0] !== 'orgs') return path[0] === 'manifest' ? 'keep' : treatUnknown(kind);
    this.hasOrganisations = true;
    return kind === 'scalar' ? 'keep' : enter(path, kind === 'array', 'expected a list');
  }

  private treatField(path: JsonPath, kind: ValueKind): Treatment {
    const field = findField(path);
    if (field === undefined) return treatUnknown(kind);
    if (this.seen.has(field.name)) throw new JsonError([...path], `duplicate field "${field.name}"`);
    this.seen.add(field.name);
    if (!this.wanted(field.name)) return 'skip';
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

/** A list that is not known may be long: its elements are looked at one by one. */
function treatUnknown(kind: ValueKind): Treatment {
  return kind === 'array' ? 'enter' : 'glance';
}

function unknown(path: JsonPath, text: string): ExportFileItem[] {
  if (text !== '') parseJson(text, path);
  return [];
}

function enter(path: JsonPath, allowed: boolean, otherwise: string): Treatment {
  if (!allowed) throw new JsonError([...path], otherwise);
  return 'enter';
}

/** `null` is a field that is not set, but no element of a list (zitadel 1.1). */
function none(path: JsonPath): ExportFileItem[] {
  if (path.length === 4) throw new JsonError(path, 'unexpected null in a list');
  return [];
}

function item(path: JsonPath, text: string): ExportFileItem[] {
  if (path.length === 1) {
    if (path[0] === 'orgs') throw new JsonError(path, 'expected a list');
    return path[0] === 'manifest' && text !== '' ? [{ organisation: undefined, name: 'manifest', path, text }] : [];
  }
  const field = findField(path);
  if (field === undefined || text === '') return [];
  if (field.list && path.length === 3) throw new JsonError(path, 'expected a list');
  return [{ organisation: Number(path[1]), name: field.name, path, text }];
}
