import { hash } from 'node:crypto';
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';

export interface RecordBody {
  readonly body: string;
  /** The SHA-256 hash of `body`, in base64url. */
  readonly digest: string;
}

/**
 * Returns the body of a record, which is its JSON as a text, and the digest of the body. Call this function after every
 * change of the JSON.
 */
export function serialise(json: JsonObject): RecordBody {
  const body = JSON.stringify(json);
  return { body, digest: hash('sha256', body, 'base64url') };
}

/** Replaces the fields of `json` with the fields of `ordered`, in the order of `ordered`. */
export function reorder(json: JsonObject, ordered: JsonObject): void {
  const names = Object.keys(ordered);
  // V8 accesses objects with deleted fields slowly. So delete fields only if the order differs, which is rare.
  const inOrder = Object.keys(json).every((name, index) => name === names[index]);
  if (!inOrder) for (const name of Object.keys(json)) delete json[name];
  for (const name of names) if (ordered[name] !== undefined) json[name] = ordered[name];
}

/** Sets `orgId` of a record to the id of its organisation. The field becomes the first field. */
export function nameOrganisation(json: JsonObject, orgId: string): void {
  const otherFields = { ...json };
  delete otherFields.orgId;
  reorder(json, { orgId, ...otherFields });
}

/**
 * Derives an id for a user or project that has no id in the file. The id depends on the name, which is unique in the
 * organisation. So a second import of the same file creates no duplicates.
 */
export function deriveId(orgId: string, name: string): string {
  const digest = hash('sha256', JSON.stringify([orgId, name]), 'hex');
  return String(BigInt(`0x${digest.slice(0, 15)}`))
    .padStart(18, '1')
    .slice(0, 18);
}

type OrderedField = Pick<DescField, 'jsonName' | 'message'>;

const fieldsByMessage = new Map<string, readonly OrderedField[]>();

function writtenFields({ typeName, fields }: DescMessage): readonly OrderedField[] {
  const cachedFields = fieldsByMessage.get(typeName);
  if (cachedFields !== undefined) return cachedFields;
  const ordered = fields.toSorted((a, b) => a.number - b.number);
  fieldsByMessage.set(typeName, ordered);
  return ordered;
}

/**
 * Returns the fields in the order of their numbers in the definition. Unknown fields follow in their original order.
 */
export function inWrittenOrder(schema: DescMessage, json: JsonObject): JsonObject {
  const ordered: JsonObject = {};
  for (const { jsonName, message } of writtenFields(schema)) {
    const value = Object.hasOwn(json, jsonName) ? json[jsonName] : undefined;
    if (value === undefined) continue;
    const put = (element: unknown) =>
      message !== undefined && isJsonObject(element) ? inWrittenOrder(message, element) : element;
    ordered[jsonName] = Array.isArray(value) ? value.map(put) : put(value);
  }
  for (const [name, value] of Object.entries(json))
    if (value !== undefined && !Object.hasOwn(ordered, name)) ordered[name] = value;
  return ordered;
}
