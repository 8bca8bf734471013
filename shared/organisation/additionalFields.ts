// In this module, an additional field is a field of a record that ZITADEL's definition of the record lacks.

import type { DescMessage } from '@bufbuild/protobuf';
import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';
import { snakeCase } from '../json/spelling.ts';
import { type AdditionalField, keptFields } from './keptFields.ts';
import { InvalidRecordError } from './message.ts';
import { recordSchema } from './recordSchema.ts';
import type { FieldPath } from './relations.ts';
import type { Section } from './sections/section.ts';
import { isUnspecified, statesOf } from './states.ts';

/** An additional field, with both spellings of each name in the field's path. */
interface SpelledField {
  readonly field: AdditionalField;
  readonly names: readonly (readonly string[])[];
}

interface FoundField {
  readonly declared: SpelledField;
  readonly value: unknown;
  /** Whether the record has both spellings of the field's name. */
  isRepeated: boolean;
}

/**
 * A record's JSON, split into two parts: the fields in ZITADEL's definition, and the additional fields that this
 * service keeps.
 */
interface SplitRecord {
  readonly defined: unknown;
  readonly presentFields: readonly FoundField[];
}

interface KeptValues {
  state?: string;
  otpEmail?: boolean;
  /**
   * The values to store in the record's JSON: the values of all additional fields except the state and the OTP e-mail
   * factor.
   */
  readonly values: [path: FieldPath, value: string | true][];
}

const NOTHING: readonly FoundField[] = [];

const fieldsBySection = new WeakMap<Section, readonly SpelledField[]>();

/**
 * Returns the additional fields that a section keeps.
 * @throws Error if a declaration contradicts ZITADEL's definition
 */
function spelledFields(section: Section): readonly SpelledField[] {
  const cachedFields = fieldsBySection.get(section);
  if (cachedFields !== undefined) return cachedFields;
  checkDeclarations(section);
  const spelled = keptFields(section).map((field) => ({ field, names: field.path.split('.').map(spellings) }));
  fieldsBySection.set(section, spelled);
  return spelled;
}

function spellings(name: string): readonly string[] {
  return [...new Set([name, snakeCase(name)])];
}

/** An object in a section's records, in which the section may declare additional fields. */
interface Place {
  readonly path: FieldPath;
  readonly schema: DescMessage;
  /** True if the object is in a list or in a `oneof`, so that a record may contain it several times or not at all. */
  readonly isVariable: boolean;
}

/**
 * Checks the declarations of a section's additional fields. ZITADEL's definition must contain the object around each
 * field, but not the field itself.
 */
function checkDeclarations(section: Section): void {
  const { kept = [], ignored = [] } = section.additional ?? {};
  const allPlaces = [...placesIn(recordSchema(section), '', false)];
  // ZITADEL's definition of the organisation contains the other sections too. Exclude the objects in those sections.
  const isOwn = (path: FieldPath) => path === '' || path.split('.', 1)[0] === section.name;
  const places = section.name === 'org' ? allPlaces.filter(({ path }) => isOwn(path)) : allPlaces;
  // A secret and an additional field must not share an object. Exports omit secrets unless the request selects them,
  // and the remaining object would be invalid.
  const secrets = (section.credentials ?? [])
    .map(({ path }) => parentOf(path))
    .filter((path) => path !== section.inner);
  const keeping = places.filter(
    ({ path, isVariable }) => !isVariable && !secrets.includes(path) && !(section.name === 'org' && path === ''),
  );
  const seen = new Set<FieldPath>(statesOf(section) === undefined ? [] : ['state']);
  for (const [fields, allowed] of [
    [kept, keeping],
    [ignored, places],
  ] as const)
    for (const { path } of fields) {
      const problem = seen.has(path) ? 'is declared twice' : pathProblem(path, allowed);
      if (problem !== undefined) throw new Error(`the additional field ${path} of ${section.name} ${problem}`);
      seen.add(path);
    }
}

function pathProblem(path: FieldPath, allowed: readonly Place[]): string | undefined {
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (!/^[a-z][A-Za-z\d]*$/.test(name)) return 'must have a name in camel case';
  // Reject a name that exists in every record: all JavaScript objects inherit names such as `toString`, and every
  // stored record has an `orgId`.
  if (name in {} || name === 'orgId') return 'must have another name, because all objects or records have this one';
  const place = allowed.find((allowedPlace) => allowedPlace.path === parentOf(path));
  if (place === undefined) {
    const objects = allowed.map((allowedPlace) => (allowedPlace.path === '' ? 'the record itself' : allowedPlace.path));
    return `must be in one of these objects: ${objects.join(', ')}`;
  }
  return place.schema.fields.some((field) => field.jsonName === name)
    ? "is a field of ZITADEL's definition: remove the declaration"
    : undefined;
}

function* placesIn(schema: DescMessage, path: FieldPath, isVariable: boolean): Generator<Place> {
  yield { path, schema, isVariable };
  for (const { message, jsonName, fieldKind, oneof } of schema.fields) {
    if (message === undefined || message.typeName.startsWith('google.')) continue;
    const inner = path === '' ? jsonName : `${path}.${jsonName}`;
    yield* placesIn(message, inner, isVariable || fieldKind !== 'message' || oneof !== undefined);
  }
}

function parentOf(path: FieldPath): FieldPath {
  return path.slice(0, Math.max(path.lastIndexOf('.'), 0));
}

export function splitKept(section: Section, value: unknown): SplitRecord {
  const fields = spelledFields(section);
  if (fields.length === 0 || !isJsonObject(value)) return { defined: value, presentFields: NOTHING };
  const presentFields: FoundField[] = [];
  let defined = value;
  for (const declared of fields) defined = splitField(defined, declared, 0, presentFields);
  return { defined, presentFields };
}

/**
 * Moves an additional field from the JSON to `presentFields`. If the JSON contains both spellings of the field's name,
 * moves both.
 * @param at the number of names in the field's path that lead from the record to `json`
 * @returns the JSON without the field. This is a new object if the JSON had the field, otherwise `json`
 */
function splitField(json: JsonObject, declared: SpelledField, at: number, presentFields: FoundField[]): JsonObject {
  let remaining = json;
  for (const name of declared.names[at] ?? []) {
    if (!Object.hasOwn(json, name)) continue;
    const value = json[name];
    if (at === declared.names.length - 1) {
      const last = presentFields.at(-1);
      if (last?.declared === declared) last.isRepeated = true;
      else presentFields.push({ declared, value, isRepeated: false });
      const { [name]: _, ...others } = remaining;
      remaining = others;
    } else if (isJsonObject(value)) {
      const inner = splitField(value, declared, at + 1, presentFields);
      if (inner !== value) remaining = { ...remaining, [name]: inner };
    }
  }
  return remaining;
}

/**
 * Reads the values of additional fields.
 * @throws InvalidRecordError if a value is invalid, or if a record has both spellings of a field's name
 */
export function readKept(presentFields: readonly FoundField[]): KeptValues {
  const kept: KeptValues = { values: [] };
  for (const { declared, value, isRepeated } of presentFields) {
    const { field, names } = declared;
    if (isRepeated) throw invalid(field, `duplicate field ${JSON.stringify(names.at(-1)?.at(-1))}`);
    if (value !== null && value !== undefined) readValue(kept, field, value);
  }
  return kept;
}

function readValue(kept: KeptValues, field: AdditionalField, value: unknown): void {
  if (field.type === 'boolean' || field.type === 'factor') {
    if (typeof value !== 'boolean') throw invalid(field, 'expected true or false');
    if (field.type === 'factor') kept.otpEmail = value;
    else if (value) kept.values.push([field.path, value]);
  } else if (field.type === 'state') {
    if (isUnspecified(value, field.states)) return;
    const state = field.states.find((allowedState) => allowedState === value);
    if (state === undefined)
      throw invalid(field, `unknown state ${JSON.stringify(value)}: expected ${field.states.join(' or ')}`);
    kept.state = state;
  } else {
    if (typeof value !== 'string' || !value.isWellFormed()) throw invalid(field, 'expected text, such as "text"');
    if (value !== '') kept.values.push([field.path, value]);
  }
}

function invalid({ path }: AdditionalField, reason: string): InvalidRecordError {
  return new InvalidRecordError([{ path, reason }]);
}
