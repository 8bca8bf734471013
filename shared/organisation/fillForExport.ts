import type { JsonObject } from '../json/jsonObject.ts';
import { inWrittenOrder } from './recordBody.ts';
import { recordSchema } from './recordSchema.ts';
import type { Provider, Section } from './sections/section.ts';

/**
 * Adds the fields that only exported records have, such as the name of an identity provider, and orders the fields as
 * in canonical form. Returns undefined if the record has no such fields to add.
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
