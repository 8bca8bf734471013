import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';

/** Where a message has the fields that are looked for: the fields themselves, and the fields that lead to them. */
interface Place {
  readonly field: DescField;
  readonly nested: readonly Place[];
}

/** A value that a finder found, and where. */
export interface FoundScalar {
  readonly field: DescField;
  readonly value: unknown;
  /** The field's path in JSON names, with positions in lists. */
  readonly path: string;
  /** Replaces the value in the JSON. */
  replace(value: unknown): void;
}

/** Finds the values of one kind of field in a message's JSON. Messages without such fields cost nothing. */
export class ScalarFinder {
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
