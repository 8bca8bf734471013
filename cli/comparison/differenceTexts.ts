import { recordNoun } from '../../shared/errors/nouns.ts';
import type { FieldDifference } from '../../shared/organisation/equality.ts';
import { counted, MAX_LINES, named, numberText } from '../terminal/numberTexts.ts';

export function notComparedLines(kinds: readonly string[]): string[] {
  return kinds.length === 0 ? [] : [`not compared: ${kinds.join(', ')} (--with selects them)`];
}

/**
 * Returns the first lines of a list of differing records. If there are more records, adds a line with the number of all
 * differing records.
 */
export function firstDifferences(lines: readonly string[], listed: number, total: number): string[] {
  const which = listed === total ? 'them' : numberText(listed);
  const omittedLine = `${counted(total, 'record')} differ; --json lists ${which}`;
  return lines.length <= MAX_LINES ? [...lines] : [...lines.slice(0, MAX_LINES), omittedLine];
}

/**
 * The texts of a differing field: both values as JSON. For a secret, only `secret` is set, and describes how the sides
 * differ.
 */
interface FieldTexts {
  readonly path: string;
  readonly first?: string | undefined;
  readonly second?: string | undefined;
  readonly secret?: string | undefined;
}

interface DifferingRecord {
  readonly section: string;
  readonly orgId: string;
  readonly id: string;
  readonly name?: string | undefined;
  readonly orgName?: string | undefined;
  readonly reason?: string | undefined;
  readonly isRepeat?: boolean | undefined;
}

/** @param onlyIn the name of the only side that has the record; undefined if both sides have the record */
export function differenceLines(
  { section, orgId, orgName, id, name, reason, isRepeat = false }: DifferingRecord,
  onlyIn: string | undefined,
  fields: readonly FieldTexts[],
): string[] {
  const record = `${recordNoun(section)} ${named(id, name)} of ${named(orgId, orgName)}`;
  const why = reason === undefined ? '' : ` (${reason})`;
  if (onlyIn !== undefined)
    return [`${record}: only in ${onlyIn}${isRepeat ? `, which has this ${recordNoun(section)} twice` : ''}${why}`];
  return fields.map(({ path, first = '(absent)', second = '(absent)', secret }) => {
    const values = secret === undefined ? `${first} | ${second}` : `a secret, ${secret}`;
    return `${record}: ${path}: ${values}${why}`;
  });
}

/** Returns the texts of differing fields. The texts never contain the values of secrets. */
export function fieldTexts(
  fields: readonly FieldDifference[],
  [first, second]: readonly [string, string],
): readonly FieldTexts[] {
  const secretTexts = { different: 'differs', onlyFirst: `only in ${first}`, onlySecond: `only in ${second}` };
  return fields.map((field) =>
    'secret' in field
      ? { path: field.path, secret: secretTexts[field.secret] }
      : { path: field.path, first: valueText(field.first), second: valueText(field.second) },
  );
}

const MAX_VALUE_CHARACTERS = 200;

function valueText(value: unknown): string | undefined {
  const text = value === undefined ? undefined : JSON.stringify(value);
  return text === undefined || text.length <= MAX_VALUE_CHARACTERS ? text : `${text.slice(0, MAX_VALUE_CHARACTERS)}…`;
}
