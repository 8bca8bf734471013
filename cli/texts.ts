/** Replaces control characters, which callers can put into ids, and which would reach the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}

/** Joins the lines that a command prints. */
export function printableLines(lines: readonly string[]): string {
  return lines.map(printable).join('\n');
}

/** Returns numbers with their names, such as `org 2, humanUsers 10`. */
export function countList(counts: Readonly<Record<string, number>>): string {
  const texts = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
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

/** Returns the first lines, and one with the number of the others. */
export function firstLines(lines: readonly string[], plural: string, omitted = 0): string[] {
  const shown = lines.slice(0, MAX_LINES);
  const more = lines.length - shown.length + omitted;
  return more === 0 ? shown : [...shown, `${more} more ${plural}; --json lists them`];
}

/** The kinds of notices, alone and together. */
const plurals = {
  refused: 'refused records',
  error: 'errors',
  warning: 'warnings',
  'left to do': 'things left to do',
};

/** Returns the lines of the first notices of a kind. */
export function noticeLines(kind: keyof typeof plurals, notices: readonly Notice[], omitted?: number): string[] {
  const lines = notices.map((notice) => `${kind}: ${noticeText(notice)}`);
  return firstLines(lines, plurals[kind], omitted);
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
