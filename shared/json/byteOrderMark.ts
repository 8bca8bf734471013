/** Whether the bytes at the start of a JSON text begin with a byte order mark, which RFC 8259 forbids. */
export function hasByteOrderMark(start: Uint8Array): boolean {
  return start[0] === 0xef;
}
