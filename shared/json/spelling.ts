// Field names have two spellings: lowerCamelCase, and the snake_case of the interface and of protobuf definitions.

import { type JsonObject, valueAt } from './jsonObject.ts';

/** Converts a field name or a path to snake_case, such as `dataOrgsv1Gcs` to `data_orgsv1_gcs`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns undefined if the value is absent or null. */
export function valueInEitherSpelling(record: JsonObject, path: string): unknown {
  return valueAt(record, path) ?? valueAt(record, snakeCase(path)) ?? undefined;
}
