import { hash } from 'node:crypto';

const MAX_ID_BYTES = 1_400;

/**
 * The document id of a natural key: two hex digits of the key's hash (ids that grow with time would make a hot spot, and
 * the prefix gives ranges for parallel reads), then the parts, percent-encoded where a path would misread them.
 * Firestore takes ids of at most 1,500 bytes, so a longer key ends in its full hash instead. Such an id is always longer
 * than `MAX_ID_BYTES`, so no short key, however it is chosen, can have the same id.
 */
export function documentId(...parts: readonly string[]): string {
  const key = parts.map(encodePart).join('|');
  const digest = hash('sha256', key);
  const id = `${digest.slice(0, 2)}~${key}`;
  if (Buffer.byteLength(id) <= MAX_ID_BYTES) return id;
  const kept = Buffer.from(id).subarray(0, MAX_ID_BYTES).toString().replace(/�+$/, '');
  return `${kept}~${digest}`;
}

function encodePart(part: string): string {
  return part.replace(/[%/|]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}
