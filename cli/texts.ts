import { describeVerifiers } from '../shared/organisation/passwordHashes.ts';
import type { WarningReason } from '../shared/organisation/warnings.ts';
import { recordNoun, words } from './nouns.ts';
import { type Line, section } from './terminal.ts';

/** Returns a number as people read it, such as `30,680`. */
export function numberText(number: number): string {
  return number.toLocaleString('en');
}

const sizes = [
  [1e9, 'GB'],
  [1e6, 'MB'],
] as const;

/** Returns a number of bytes as people read it, such as `6.2 MB`. */
export function sizeText(bytes: number): string {
  const [one, unit] = sizes.find(([least]) => bytes >= least) ?? [1e3, 'kB'];
  return `${(Math.ceil((bytes * 10) / one) / 10).toLocaleString('en')} ${unit}`;
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

/** Returns numbers before their names, such as `71 not there`, without zeros. */
export function figures(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [`${numberText(count)} ${name}`]));
}

/** Returns numbers with their names, such as `organisations 2, people 30,680`. */
export function countList(counts: Readonly<Record<string, number>>): string {
  const texts = Object.entries(counts).map(([name, count]) => `${words(name)} ${numberText(count)}`);
  return texts.join(', ') || 'none';
}

/** Returns the line about password hashes, by their formats. */
export function hashLine(formats: Readonly<Record<string, number>>): string {
  const texts = Object.entries(formats).map(
    ([format, count]) => `${format} ${numberText(count)} (${describeVerifiers(format)})`,
  );
  return `password hashes: ${texts.join(', ') || 'none'}`;
}

/** An error, a warning or something left to do, about a record or a whole file. */
export interface Notice {
  readonly type: string;
  readonly id?: string | undefined;
  readonly message: string;
  readonly reason?: WarningReason | undefined;
  /** How many further notices say the same, and are not listed. */
  readonly further?: number | undefined;
}

const EXISTS =
  'exists with other content, in another organisation, or earlier in the file: --on-conflict overwrite replaces content of the same one';

/** What people read of an import's errors, by their ids or by what their keys hold; a program reads ids and keys. */
const importErrors: readonly (readonly [error: RegExp, sentence: string])[] = [
  [
    /^ID=V3-DKcYh Errors\.User\./,
    'another user has this login name: users of several organisations share one only where `userLoginMustBeDomain` holds in their domain policies',
  ],
  [/^ID=V3-DKcYh /, 'another record has this login name, or another organisation this verified domain'],
  [
    /^ID=CRYPT-5uV9n /,
    'the ZITADEL refuses the password hash for its cost: change SystemDefaults.PasswordHasher.Limits there, or migrate with --refused-hashes omit',
  ],
  [
    /^ID=CRYPT-(?:2xK7d|r8Qm2) /,
    'the ZITADEL has no verifier for the password hash: add it to SystemDefaults.PasswordHasher.Verifiers there, or migrate with --refused-hashes omit',
  ],
  [/^ID=IMPORT-orgState /, 'an import does not change the state of an existing organisation'],
  [/^ID=IMPORT-ownState /, 'an import does not change the state of its caller'],
  [/^ID=IMPORT-rolesInUse /, 'the project grant would lose roles that user grants still use'],
  [/ Errors\.\S*DomainNotAllowedAsUsername/, "the user name ends with another organisation's verified domain"],
  [/ Errors\.\S*(?:Already\.?Exist|NoChanges)/, EXISTS],
  [
    / Errors\.\S*Not(?:Found|Exist)/,
    'refers to a record that was not imported, and that the target does not have there',
  ],
  [/PasswordComplexityPolicy\.(?:MinLength$|Has)/, "the password is too short or simple for its organisation's policy"],
  [/ Errors\.AuthNKey\.ExpireBeforeNow/, 'the key has expired'],
];

/** An error of which nothing but its key says what it is about. */
const ERROR_KEY = /^ID=(\S+) (?:Message=)?Errors\.(\S+)/;
const WORD_START = /\.|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g;

/** The fields of requests, as the interface and its messages name them, by the options of the command that set them. */
const fieldOptions: Readonly<Record<string, string>> = {
  with_passwords: '--with passwords',
  with_otp: '--with otp',
  with_keys: '--with keys',
  for_zitadel: '--for-zitadel',
  org_ids: '--org',
  excluded_org_ids: '--exclude-org',
  on_conflict: '--on-conflict',
  new_orgs_only: '--new-orgs-only',
  dry_run: '--dry-run',
};

/** What ZITADEL's validation says of a field, from the request to the field. */
const VIOLATION = /invalid \w{1,100}\.\S{1,100}: embedded message failed validation \| caused by: .*/;

/** Returns the path of an invalid field, as files have it, and what is wrong with it. */
function violationText(message: string): string {
  const names = [...message.matchAll(/invalid \w+\.(\S+): /g)].map(([, name = '']) => name);
  const path = names.map((name) => name.slice(0, 1).toLowerCase() + name.slice(1)).join('.');
  return `${path}: ${message.replace(/^.*invalid \w+\.\S+: /, '')}`;
}

/** Returns a message of a server in the words of the command: without ids of errors, with options in place of fields. */
export function humanMessage(message: string): string {
  const known = importErrors.find(([error]) => error.test(message.replace(' Message=', ' ')));
  const said = message
    .replace(VIOLATION, violationText)
    .replace(/^ID=IMPORT-tooLong Message=/, '')
    .replace(ERROR_KEY, (_, id: string, key: string) => `${key.replace(WORD_START, ' ').toLowerCase()} (${id})`);
  return known?.[1] ?? said.replace(/`?\b([a-z]+(?:_[a-z]+)+)\b`?/g, (text, field) => fieldOptions[field] ?? text);
}

/** Returns the word for a state such as `USER_STATE_LOCKED`: `locked`. */
export function stateWord(state: string): string {
  return state.replace(/^.*_STATE_/, '').toLowerCase();
}

const STATE_NAME = /\b([A-Z]{1,20}(?:_[A-Z]{1,20})?)_STATE_([A-Z]{1,20})\b/g;

/** Returns what people call the record of a notice. One that changes a state names its kind there only. */
function nounIn({ type, message }: Pick<Notice, 'type' | 'message'>): string {
  const [[, kind = type] = []] = type === 'state' ? message.matchAll(STATE_NAME) : [];
  return recordNoun(kind.toLowerCase());
}

/** Returns a notice with its record. */
export function noticeText(notice: Notice): string {
  const text = noticeMessage(notice);
  return notice.id === undefined ? text : `${nounIn(notice)} ${notice.id}: ${text}`;
}

/** Returns the message of a notice in the words of the command. */
function noticeMessage({ reason, message }: Pick<Notice, 'reason' | 'message'>): string {
  const text = humanMessage(message);
  return reason === 'state_changed' ? text.replace(STATE_NAME, (_, __, state: string) => state.toLowerCase()) : text;
}

/** Notices with the same sentence: their number, and the ids of the first ones. */
interface NoticeGroup extends Pick<Notice, 'type' | 'reason' | 'message'> {
  readonly ids: string[];
  count: number;
  /** Whether further notices, of which nothing is known but their number, may say the same. */
  readonly isLeast: boolean;
}

/**
 * Joins the notices of records that say the same, in the order of the first ones.
 * @param omitted the number of further notices
 */
export function groupNotices(notices: readonly Notice[], omitted: number): NoticeGroup[] {
  const groups = new Map<string, NoticeGroup>();
  for (const { type, id, reason, message, further = 0 } of notices) {
    const key = JSON.stringify([type, message, id === undefined]);
    const group = groups.get(key) ?? { type, reason, message, ids: [], count: 0, isLeast: omitted > 0 };
    groups.set(key, group);
    group.count += 1 + further;
    if (id !== undefined && group.ids.length < MAX_EXAMPLES) group.ids.push(id);
  }
  return [...groups.values()];
}

/** Returns the line on secrets that a comparison leaves out. */
export function notComparedLines(kinds: readonly string[]): string[] {
  return kinds.length === 0 ? [] : [`not compared: ${kinds.join(', ')} (--with)`];
}

/** The number of names that a message contains as examples of many. */
export const MAX_EXAMPLES = 3;

/** Returns the first ones of several, and the number of the others, such as `ada, bob, and 20 more`. */
export function firstOf(names: readonly string[], count: number): string {
  const more = count > names.length ? `, and ${numberText(count - names.length)} more` : '';
  return `${names.join(', ')}${more}`;
}

/** Returns what a group says, with the number of its records and the ids of the first ones. */
export function groupText({ ids, count, isLeast, ...notice }: NoticeGroup): string {
  if (count === 1 || ids.length === 0) return noticeText({ ...notice, id: ids[0] });
  const records = counted(count, nounIn(notice));
  return `${isLeast ? 'at least ' : ''}${records}: ${noticeMessage(notice)}: ${firstOf(ids, count)}`;
}

/** Returns the first warnings, or things left to do, as lines: one for those that say the same. */
export function noticeLines(notices: readonly Notice[], noun: string, omitted = 0): string[] {
  const groups = groupNotices(notices, omitted);
  const hidden = groups.slice(MAX_LINES).reduce((sum, { count }) => sum + count, 0);
  return firstLines(groups.slice(0, MAX_LINES).map(groupText), noun, omitted, hidden);
}

const MAX_LINES = 20;

/**
 * Returns the first lines, and one with the number of the others, whose noun is given.
 * @param omitted the number of those that nothing lists
 * @param hidden the number of those that only programs read
 */
export function firstLines(
  lines: readonly string[],
  noun: string,
  omitted = 0,
  hidden = Math.max(0, lines.length - MAX_LINES),
): string[] {
  const more = `${numberText(hidden + omitted)} more ${nounOf(hidden + omitted, noun)}`;
  const listed = hidden === 0 ? '' : `; --json lists ${omitted === 0 ? 'them' : numberText(hidden)}`;
  return hidden + omitted === 0 ? [...lines] : [...lines.slice(0, MAX_LINES), `${more}${listed}`];
}

/** Returns the first lines of the listed records that differ, and the number of all, where the lines are more. */
export function firstDifferences(lines: readonly string[], listed: number, all: number): string[] {
  const which = listed === all ? 'them' : numberText(listed);
  const rest = `${counted(all, 'record')} differ; --json lists ${which}`;
  return lines.length <= MAX_LINES ? [...lines] : [...lines.slice(0, MAX_LINES), rest];
}

/** Returns the warning of an organisation of which a ZITADEL did not return all states. */
export function missingStatesText(missing: string): string {
  return `states that ZITADEL did not return count as active: ${missing}`;
}

/** Returns the first of these warnings. */
export function missingStatesLines(missing: readonly string[]): string[] {
  return firstLines(missing.map(missingStatesText), 'organisation');
}

/** The kinds of notices, with their headings, nouns and styles. */
const noticeKinds = {
  error: { heading: 'Errors', noun: 'error', style: 'bad' },
  warning: { heading: 'Warnings', noun: 'warning', style: 'warning' },
  'left to do': { heading: 'Left to do by hand', noun: 'thing left to do', style: undefined },
} as const;

/**
 * Returns the first notices of a kind below their heading.
 * @param others texts of the same kind, which stand last
 */
export function noticeSection(
  kind: keyof typeof noticeKinds,
  notices: readonly Notice[],
  omitted?: number,
  others: readonly string[] = [],
): Line[] {
  const { heading, noun, style } = noticeKinds[kind];
  // Each error is about a record that needs its own attention.
  const shown =
    kind === 'error' ? firstLines(notices.map(noticeText), noun, omitted) : noticeLines(notices, noun, omitted);
  const lines = [...shown, ...others];
  return section(
    heading,
    lines.map((text) => (style === undefined ? text : { text, style })),
  );
}

/** A field in which two records differ: the values as JSON text, or how secrets differ. */
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

/** Returns an id, with the name that people know where there is one. */
export function named(id: string, name: string | undefined): string {
  return name === undefined || name === '' || name === id ? id : `${id} (${name})`;
}

/**
 * Returns the lines of a record that differs.
 * @param onlyIn the side that alone has the record; undefined if both have it
 */
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

const MAX_VALUE_CHARACTERS = 200;

/** Returns a value as JSON text, cut; undefined for an absent one. */
export function valueText(value: unknown): string | undefined {
  const text = value === undefined ? undefined : JSON.stringify(value);
  return text === undefined || text.length <= MAX_VALUE_CHARACTERS ? text : `${text.slice(0, MAX_VALUE_CHARACTERS)}…`;
}
