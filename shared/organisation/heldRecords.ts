import { isJsonObject, valueAt } from '../json/jsonObject.ts';
import type { JsonPath } from '../json/jsonScanner.ts';
import { type OrganisationRecord, toRecord } from './record.ts';

/** A record inside another record of the file. */
export interface HeldRecord {
  readonly record: OrganisationRecord;
  readonly path: JsonPath;
}

/**
 * Lists the records that a record of the file holds, which are stored apart.
 * @param path the holder's path
 */
export function heldRecords({ section: { holds }, json, orgId }: OrganisationRecord, path: JsonPath): HeldRecord[] {
  if (holds === undefined) return [];
  const { list, section, toJson } = holds;
  const elements: unknown = valueAt(json, list);
  if (!Array.isArray(elements)) return [];
  return elements.filter(isJsonObject).map((element, index) => ({
    record: toRecord(section, toJson(element, json), orgId, false),
    path: [...path, ...list.split('.'), index],
  }));
}
