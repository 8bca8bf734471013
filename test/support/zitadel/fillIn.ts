import { type JsonObject, putAt, valueAt } from '../../../shared/json/jsonObject.ts';
import type { FilledField } from '../../../shared/organisation/sections/section.ts';

/** Fills in the fields of a record that ZITADEL fills in. Changes the record itself. */
export function fillIn(filled: readonly FilledField[], json: JsonObject): void {
  const missing = filled.filter(({ path }) => valueAt(json, path) === undefined);
  for (const { path, value } of missing)
    putAt(json, path, structuredClone(typeof value === 'function' ? value(json) : value));
}
