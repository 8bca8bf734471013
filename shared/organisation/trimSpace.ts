const isSpace = (character: string | undefined) => character !== undefined && /\p{White_Space}/u.test(character);

/** Returns a text without the white space around it, as Go's `strings.TrimSpace` does: in linear time. */
export function trimSpace(text: string): string {
  const start = text.search(/\P{White_Space}/u);
  if (start < 0) return '';
  let end = text.length;
  while (isSpace(text[end - 1])) end--;
  return text.slice(start, end);
}
