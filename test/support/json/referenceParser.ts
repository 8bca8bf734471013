import { isUtf8 } from 'node:buffer';

/** The result of JSON.parse. It may be a value that the service rejects. */
export interface Reference {
  readonly value: unknown;
  /** Whether an object contains a name twice, or a text contains half of a surrogate pair. */
  readonly isRefused: boolean;
}

/** Parses bytes with JSON.parse. Returns undefined if they are not JSON in UTF-8. */
export function parseReference(bytes: Buffer): Reference | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString();
  try {
    return { value: JSON.parse(text), isRefused: hasDuplicateName(text) || hasHalfPair(text) };
  } catch {
    return undefined;
  }
}

/** A bracket, or a text with the colon that makes it a name. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g;

function hasDuplicateName(json: string): boolean {
  const open: Set<unknown>[] = [];
  for (const [token, text, colon] of json.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const name: unknown = JSON.parse(text ?? '');
      if (open.at(-1)?.has(name) === true) return true;
      open.at(-1)?.add(name);
    }
  }
  return false;
}

function hasHalfPair(json: string): boolean {
  return json.matchAll(TOKEN).some(([, text]) => text !== undefined && !String(JSON.parse(text)).isWellFormed());
}
