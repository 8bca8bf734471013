// Each field name has two spellings: lowerCamelCase (`userName`), and snake_case (`user_name`), which the interface and
// protobuf definitions use.

import { type JsonObject, valueAt } from './jsonObject.ts';

/** Converts a field name or a path to snake_case, such as `dataOrgsv1Gcs` to `data_orgsv1_gcs`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the value at a path in either spelling; undefined if the value is absent or null. */
export function valueInEitherSpelling(record: JsonObject, path: string): unknown {
  return valueAt(record, path) ?? valueAt(record, snakeCase(path)) ?? undefined;
}
