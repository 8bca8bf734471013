import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';

/** Where a message has the fields that are looked for: the fields themselves, and the fields that lead to them. */
interface Place {
  readonly field: DescField;
  readonly nested: readonly Place[];
}

/** A value that a finder found, and where. */
interface FoundScalar {
  readonly field: DescField;
  readonly value: unknown;
  /** The field's path in JSON names, with positions in lists. */
  readonly path: string;
  /** Replaces the value in the JSON. */
  replace(value: unknown): void;
}

/** Finds the values of one kind of field in a message's JSON. Messages without such fields cost nothing. */
class ScalarFinder {
  private readonly compiled = new Map<string, readonly Place[]>();
  private readonly isWanted: (field: DescField) => boolean;

  constructor(isWanted: (field: DescField) => boolean) {
    this.isWanted = isWanted;
  }

  /** Lists the values in `json`, which is a message of `schema`. */
  find(schema: DescMessage, json: unknown): FoundScalar[] {
    const places = this.compile(schema);
    return places.length === 0 || !isJsonObject(json) ? [] : findIn(places, json, '');
  }

  private compile(schema: DescMessage): readonly Place[] {
    const cached = this.compiled.get(schema.typeName);
    if (cached !== undefined) return cached;
    // Set first, so that a message that contains itself ends the descent.
    this.compiled.set(schema.typeName, []);
    const places = schema.fields.flatMap((field): Place[] => {
      if (this.isWanted(field)) return [{ field, nested: [] }];
      const nested = field.message === undefined || isWellKnown(field.message) ? [] : this.compile(field.message);
      return nested.length === 0 ? [] : [{ field, nested }];
    });
    this.compiled.set(schema.typeName, places);
    return places;
  }
}

function findIn(places: readonly Place[], message: JsonObject, prefix: string): FoundScalar[] {
  return places.flatMap(({ field, nested }) => {
    const name = field.jsonName in message ? field.jsonName : field.name;
    const value = message[name];
    const path = `${prefix}${field.jsonName}`;
    if (!Array.isArray(value)) {
      const replace = (replacement: unknown) => {
        message[name] = replacement;
      };
      return findAt({ field, value, path, replace }, nested);
    }
    return value.flatMap((element: unknown, index) => {
      const replace = (replacement: unknown) => {
        value[index] = replacement;
      };
      return findAt({ field, value: element, path: `${path}[${index}]`, replace }, nested);
    });
  });
}

function findAt(found: FoundScalar, nested: readonly Place[]): FoundScalar[] {
  if (nested.length === 0) return found.value === undefined ? [] : [found];
  return isJsonObject(found.value) ? findIn(nested, found.value, `${found.path}.`) : [];
}

/** Whether the JSON of a message is not an object of its fields, as that of a duration. */
function isWellKnown({ typeName }: DescMessage): boolean {
  return typeName.startsWith('google.protobuf.');
}

const LONG: readonly (ScalarType | undefined)[] = [
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
];

const longs = new ScalarFinder((field: DescField) => LONG.includes(field.scalar));

/**
 * Finds integers of 64 bits that stand in JSON as numbers which JavaScript cannot represent exactly, so that parsing has
 * rounded them. As strings, which is what the JSON mapping writes, they are exact.
 * @returns the fields' paths in JSON names
 */
export function inexactIntegers(schema: DescMessage, value: unknown): string[] {
  return longs
    .find(schema, value)
    .filter(({ value }) => typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    .map(({ path }) => path);
}

/** A value whose text the wire's JSON mapping rejects. */
export interface WireFormIssue {
  readonly path: string;
  readonly reason: string;
}

const durations = new ScalarFinder(({ message }: DescField) => message?.typeName === 'google.protobuf.Duration');
const bytes = new ScalarFinder(({ scalar }: DescField) => scalar === ScalarType.BYTES);

/**
 * Checks the texts of durations and bytes in a message's JSON by the rules of ZITADEL's decoder (zitadel 1.1), which
 * accepts other texts than ours. Rewrites durations in place to the form that ours accepts.
 */
export function unifyWireForms(schema: DescMessage, json: unknown): WireFormIssue[] {
  const issues: WireFormIssue[] = [];
  for (const { value, path, replace } of durations.find(schema, json)) {
    if (typeof value !== 'string') continue;
    const duration = canonicalDuration(value);
    if (duration === undefined) issues.push({ path, reason: `invalid duration ${JSON.stringify(value)}` });
    else if (duration !== value) replace(duration);
  }
  for (const { value, path } of bytes.find(schema, json)) {
    if (typeof value === 'string' && !isBase64(value)) issues.push({ path, reason: 'invalid base64' });
  }
  return issues;
}

const DURATION = /^([+-]?)(?=[\d.])(0|[1-9]\d*)?(?:\.(\d{0,9}))?s$/;

/** Returns a duration with digits on both sides of its point; undefined for a text that is no duration. */
export function canonicalDuration(text: string): string | undefined {
  const match = DURATION.exec(text);
  if (match === null) return undefined;
  const [, sign, seconds = '0', fraction = ''] = match;
  return `${sign === '-' ? '-' : ''}${seconds}${fraction === '' ? '' : `.${fraction}`}s`;
}

/** Whether a text is base64 of either alphabet, with or without padding. Line breaks do not count. */
export function isBase64(text: string): boolean {
  const digits = /[-_]/.test(text) ? /^[\w-]*$/ : /^[A-Za-z\d+/]*$/;
  const content = text.replace(/[\r\n]/g, '');
  const body = content.replace(/={1,2}$/, '');
  if (!digits.test(body)) return false;
  const isPadded = text.length % 4 === 0;
  return isPadded ? content.length % 4 === 0 : body === content && content.length % 4 !== 1;
}
