import type { JsonObject } from '../json/jsonObject.ts';
import { inWrittenOrder } from './recordBody.ts';
import { recordSchema } from './recordSchema.ts';
import type { Provider, Section } from './sections/section.ts';

/**
 * Adds the fields that only exports contain, such as the name of an identity provider, and restores the canonical
 * order. Returns undefined if the record does not change.
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
