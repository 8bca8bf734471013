const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Escapes control characters and line breaks: callers can put them into ids and names, and forge what a terminal shows. */
export function printable(text: string): string {
  return text.replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => escapes[character] ?? `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** Joins the lines that a command prints. */
export function printableLines(lines: readonly string[]): string {
  return lines.map(printable).join('\n');
}

/** Returns a number as people read it, such as `30,680`. */
function numberText(number: number): string {
  return number.toLocaleString('en');
}

/** The plurals that do not just end in an s. */
const plurals: Readonly<Record<string, string>> = { person: 'people', 'thing left to do': 'things left to do' };

function nounOf(count: number, noun: string): string {
  return count === 1 ? noun : (plurals[noun] ?? `${noun}s`);
}

/** Returns a number with its noun, such as `1 error` or `2,000 people`. */
export function counted(count: number, noun: string): string {
  return `${numberText(count)} ${nounOf(count, noun)}`;
}

/** Returns numbers with their names, such as `org 2, humanUsers 30,680`. */
export function countList(counts: Readonly<Record<string, number>>): string {
  const texts = Object.entries(counts).map(([name, count]) => `${name} ${numberText(count)}`);
  return texts.join(', ') || 'none';
}

/** An error, a warning or something left to do, about a record or a whole file. */
export interface Notice {
  readonly type: string;
  readonly id?: string | undefined;
  readonly message: string;
}

/** Returns a notice with its record. */
export function noticeText({ type, id, message }: Notice): string {
  return id === undefined ? message : `${type} ${id}: ${message}`;
}

const MAX_LINES = 20;

/** Returns the first lines, and one with the number of the others, whose noun is given. */
export function firstLines(lines: readonly string[], noun: string, omitted = 0): string[] {
  const shown = lines.slice(0, MAX_LINES);
  const more = lines.length - shown.length + omitted;
  return more === 0 ? shown : [...shown, `${numberText(more)} more ${nounOf(more, noun)}; --json lists them`];
}

/** The kinds of notices, with their nouns. */
const noticeNouns = { refused: 'refused record', error: 'error', warning: 'warning', 'left to do': 'thing left to do' };

/** Returns the lines of the first notices of a kind. */
export function noticeLines(kind: keyof typeof noticeNouns, notices: readonly Notice[], omitted?: number): string[] {
  const lines = notices.map((notice) => `${kind}: ${noticeText(notice)}`);
  return firstLines(lines, noticeNouns[kind], omitted);
}

/** A field in which two records differ: the values as JSON text, or how secrets differ. */
interface FieldTexts {
  readonly path: string;
  readonly first?: string | undefined;
  readonly second?: string | undefined;
  readonly secret?: string | undefined;
}

/** A record that differs. */
interface DifferingRecord {
  readonly section: string;
  readonly orgId: string;
  readonly id: string;
  readonly reason?: string | undefined;
}

/**
 * Returns the lines of a record that differs.
 * @param onlyIn the side that alone has the record; undefined if both have it
 */
export function differenceLines(
  { section, orgId, id, reason }: DifferingRecord,
  onlyIn: string | undefined,
  fields: readonly FieldTexts[],
): string[] {
  const record = `${section} ${id} of ${orgId}`;
  const why = reason === undefined ? '' : ` (${reason})`;
  if (onlyIn !== undefined) return [`${record}: only in ${onlyIn}${why}`];
  return fields.map(({ path, first = '(absent)', second = '(absent)', secret }) => {
    const values = secret === undefined ? `${first} | ${second}` : `a secret, ${secret}`;
    return `${record}: ${path}: ${values}${why}`;
  });
}

const MAX_CHARACTERS = 200;

/** Returns a value as JSON text, cut; undefined for an absent one. */
export function valueText(value: unknown): string | undefined {
  const text = value === undefined ? undefined : JSON.stringify(value);
  return text === undefined || text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}…`;
}
