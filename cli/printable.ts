/** Replaces control characters, which callers can put into ids, and which would reach the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}
