import { JsonError } from './jsonScanner.ts';

/**
 * Refuses JSON that begins with a byte order mark, which RFC 8259 forbids, in ZITADEL's words.
 * @throws JsonError
 */
export function refuseByteOrderMark(start: Uint8Array): void {
  if (start[0] === 0xef) throw new JsonError([], "invalid character 'ï' looking for beginning of value");
}
