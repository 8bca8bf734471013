import type { JsonObject } from '../json/jsonObject.ts';
import { inWrittenOrder } from './recordBody.ts';
import { recordSchema } from './recordSchema.ts';
import type { Provider, Section } from './sections/section.ts';

/**
 * Returns a record with the fields that exports fill in, in canonical form; undefined if the record has them already.
 */
export function fillForExport(
  section: Section,
  json: JsonObject,
  orgId: string,
  findProvider: (id: string) => Provider | undefined,
): JsonObject | undefined {
  const filled = section.exported?.fill?.(json, orgId, findProvider);
  return filled === undefined ? undefined : inWrittenOrder(recordSchema(section), filled);
}
