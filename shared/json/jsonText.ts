// Reads the text of a JSON value: objects without duplicate names, and the content of strings.

import { JsonError, parseJson, type ScannedValue } from './jsonScanner.ts';

/**
 * Parses a scanned value whose objects have each name once. JSON.parse alone would silently use the last value of a name, and
 * lose the others (zitadel 1.1).
 * @throws JsonError
 */
export function parseUnique({ text, path, names }: Pick<ScannedValue, 'text' | 'path' | 'names'>): unknown {
  const value = parseJson(text, path);
  if (names !== countKeys(value)) throw new JsonError(path, `duplicate field ${JSON.stringify(findDuplicate(text))}`);
  return value;
}

// Iterative, since the input determines the nesting depth.
function countKeys(value: unknown): number {
  const open: unknown[] = [value];
  let keys = 0;
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const parts: unknown[] = Object.values(next);
    if (!Array.isArray(next)) keys += parts.length;
    for (const part of parts) open.push(part);
  }
  return keys;
}

/** Returns the position after the string that starts at `start`. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end + 1;
}

/** Whether an odd number of backslashes precedes a position in a JSON text. */
function isEscaped(text: string, position: number): boolean {
  let at = position;
  while (text[at - 1] === '\\') at--;
  return (position - at) % 2 === 1;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return at;
}

/** Finds the duplicate name. Slow, so it runs only if there is one. */
function findDuplicate(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{') open.push(new Set());
    else if (character === '}') open.pop();
    else if (character === '"') {
      const end = stringEnd(text, at);
      const name: unknown = JSON.parse(text.slice(at, end));
      at = end - 1;
      if (text[skipSpace(text, end)] !== ':' || typeof name !== 'string') continue;
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}

/**
 * Unescapes a JSON string as a stream of bytes. Requests carry an export file as a string (specification 2.5,
 * `data_orgsv1`).
 * @param content the bytes between the quotes of a scanned string: its escapes and its UTF-8 are valid
 */
export async function* stringContent(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let pending = '';
  for await (const chunk of content) {
    pending += decoder.decode(chunk, { stream: true });
    const length = completeLength(pending);
    yield Buffer.from(String(JSON.parse(`"${pending.slice(0, length)}"`)));
    pending = pending.slice(length);
  }
}

/** Returns the length of the part of `text` that ends before any incomplete escape or surrogate pair. */
function completeLength(text: string): number {
  for (let at = Math.max(0, text.length - 12); at < text.length; at++) {
    if (text[at] !== '\\' || isEscaped(text, at)) continue;
    const length = text[at + 1] === 'u' ? 6 : 2;
    const isHighSurrogate = /^\\u[dD][89abAB]/.test(text.slice(at, at + 6));
    if (at + length > text.length || (isHighSurrogate && at + 12 > text.length)) return at;
  }
  return text.length;
}
