// Fields of records that ZITADEL's definitions do not have.

import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';
import { snakeCase } from '../json/spelling.ts';
import { InvalidRecordError } from './message.ts';
import type { FieldPath } from './relations.ts';
import type { KeptField, Section } from './section.ts';

/** The values of a kept field: one for each spelling of its name in the file. */
interface FoundField {
  readonly field: KeptField;
  readonly values: readonly unknown[];
}

/** A record's JSON without its kept fields, and these fields. */
interface SplitRecord {
  readonly defined: unknown;
  readonly found: readonly FoundField[];
}

/** The values of a record's kept fields. */
interface KeptValues {
  state?: string;
  otpEmail?: boolean;
  readonly texts: [path: FieldPath, text: string][];
}

const NOTHING: readonly FoundField[] = [];

/** Splits the fields that a section keeps from those that its definition has. */
export function splitKept({ additional }: Section, value: unknown): SplitRecord {
  if (additional === undefined || !isJsonObject(value)) return { defined: value, found: NOTHING };
  const found: FoundField[] = [];
  let defined = value;
  for (const field of additional.kept) {
    const { rest, values } = splitField(defined, namesOf(field), 0);
    defined = rest;
    if (values.length > 0) found.push({ field, values });
  }
  return { defined, found };
}

const namesByField = new WeakMap<KeptField, readonly (readonly string[])[]>();

/** Returns the spellings of each step of a field's path. */
function namesOf(field: KeptField): readonly (readonly string[])[] {
  const names = namesByField.get(field) ?? field.path.split('.').map(spellings);
  namesByField.set(field, names);
  return names;
}

/** Splits a field, in either spelling, from a copy of the JSON. */
function splitField(
  json: JsonObject,
  path: readonly (readonly string[])[],
  at: number,
): { readonly rest: JsonObject; readonly values: readonly unknown[] } {
  const names = (path[at] ?? []).filter((spelling) => Object.hasOwn(json, spelling));
  if (names.length === 0) return { rest: json, values: [] };
  if (at === path.length - 1) {
    const others = Object.entries(json).filter(([other]) => !names.includes(other));
    return { rest: Object.fromEntries(others), values: names.map((spelling) => json[spelling]) };
  }
  let rest = json;
  const values: unknown[] = [];
  for (const spelling of names) {
    const parent = json[spelling];
    if (!isJsonObject(parent)) continue;
    const split = splitField(parent, path, at + 1);
    if (split.values.length > 0) rest = { ...rest, [spelling]: split.rest };
    values.push(...split.values);
  }
  return { rest, values };
}

function spellings(name: string): readonly string[] {
  return [...new Set([name, snakeCase(name)])];
}

/**
 * Reads the values of kept fields.
 * @throws InvalidRecordError
 */
export function readKept(found: readonly FoundField[]): KeptValues {
  const kept: KeptValues = { texts: [] };
  for (const { field, values } of found) {
    const [value, ...others] = values;
    if (others.length > 0) throw invalid(field, `duplicate field ${JSON.stringify(namesOf(field).at(-1)?.at(-1))}`);
    if (value !== null && value !== undefined) readValue(kept, field, value);
  }
  return kept;
}

function readValue(kept: KeptValues, field: KeptField, value: unknown): void {
  if (field.type === 'boolean') {
    if (typeof value !== 'boolean') throw invalid(field, 'expected true or false');
    kept.otpEmail = value;
  } else if (field.type === 'state') {
    const state = field.states.find((known) => known === value);
    if (state === undefined)
      throw invalid(field, `unknown state ${JSON.stringify(value)}: expected ${field.states.join(' or ')}`);
    kept.state = state;
  } else {
    if (typeof value !== 'string' || !value.isWellFormed()) throw invalid(field, 'expected text, such as "text"');
    if (value !== '') kept.texts.push([field.path, value]);
  }
}

function invalid({ path }: KeptField, reason: string): InvalidRecordError {
  return new InvalidRecordError([{ path, reason }]);
}
