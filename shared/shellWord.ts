/**
 * Quotes a word of a shell command, on one line.
 * @example
 *     shellWord('./north'); // ./north
 *     shellWord('my file'); // 'my file'
 */
export function shellWord(text: string): string {
  if (/^[\w./-]+$/.test(text)) return text;
  if (!/\p{Cc}/u.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  // Bash, zsh and ksh support the quoting `$'…'`.
  return `$'${text.replace(/[\\']|\p{Cc}/gu, escaped)}'`;
}

function escaped(character: string): string {
  const code = character.charCodeAt(0);
  return code > 0x1f && code < 0x7f ? `\\${character}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
