import { defined } from '../../shared/defined.ts';
import { hasParams, type IssueParams, type IssueRow, issueText } from '../../shared/errors/issueText.ts';
import { recordNoun, stateWord } from '../../shared/errors/nouns.ts';
import { recordIssues } from '../../shared/errors/recordIssues.ts';
import { type RecordWarning, warnings } from '../../shared/errors/warnings.ts';
import { withCalls } from './callTexts.ts';
import { counted, firstLines, firstOf, MAX_EXAMPLES, MAX_LINES } from './numberTexts.ts';
import { type Line, section } from './terminal.ts';

/** An error, a warning or a manual step. It concerns a record, or the whole file if it has no `id`. */
export interface Notice {
  readonly type: string;
  readonly id?: string | undefined;
  readonly message: string;
  readonly reason?: string | undefined;
  readonly params?: IssueParams | undefined;
  /** The number of further notices with the same message, if the list of notices omits them. */
  readonly further?: number | undefined;
}

const STATE = /^([A-Z]+(?:_[A-Z]+)?)_STATE_([A-Z]+)$/;

/**
 * Returns the noun for the record of a notice. If the notice is about a change of state, the noun comes from the name
 * of the earlier state.
 */
function nounIn({ type, params }: Notice): string {
  return recordNoun((STATE.exec(params?.before ?? '')?.[1] ?? type).toLowerCase());
}

export function noticeText(notice: Notice): string {
  const text = noticeMessage(notice);
  return notice.id === undefined ? text : `${nounIn(notice)} ${notice.id}: ${text}`;
}

const rows: ReadonlyMap<string, IssueRow> = new Map(Object.entries({ ...recordIssues, ...warnings }));

/**
 * Returns the message of a notice in the wording for users of the command. If the command does not know its reason,
 * because the server is newer, returns the server's message.
 */
export function noticeMessage(notice: Notice): string {
  const row = rows.get(notice.reason ?? '');
  const { params = {} } = notice;
  if (row === undefined || !hasParams(row, params)) return notice.message;
  const shown = Object.entries(params).map(([name, value]) => [name, STATE.test(value) ? stateWord(value) : value]);
  return withCalls(issueText(row, Object.fromEntries(shown), 'command'));
}

interface NoticeGroup {
  readonly first: Notice;
  readonly text: string;
  readonly ids: string[];
  count: number;
  /**
   * True if further notices may belong to this group, because the list of notices is incomplete. `count` is then the
   * minimum.
   */
  readonly isLeast: boolean;
}

/**
 * Groups notices that have the same text. The groups have the order of their first notices.
 * @param omitted the number of further notices, which the list does not contain
 * @param examples the maximum number of ids in a group
 */
function groupNotices(notices: readonly Notice[], omitted: number, examples: number): NoticeGroup[] {
  const groups = new Map<string, NoticeGroup>();
  for (const notice of notices) {
    const { type, id, further = 0 } = notice;
    const text = noticeMessage(notice);
    const key = JSON.stringify([type, text, id === undefined]);
    const group = groups.get(key) ?? { first: notice, text, ids: [], count: 0, isLeast: omitted > 0 };
    groups.set(key, group);
    group.count += 1 + further;
    if (id !== undefined && group.ids.length < examples) group.ids.push(id);
  }
  return groups.size > MAX_LINES ? groupByKind([...groups.values()], examples) : [...groups.values()];
}

/** Joins all groups that have the same reason and field, because their many different texts would fill the screen. */
function groupByKind(groups: readonly NoticeGroup[], examples: number): NoticeGroup[] {
  const kinds = Map.groupBy(groups, ({ first: { type, reason, id, params }, text }) =>
    id === undefined || reason === undefined ? text : JSON.stringify([type, reason, fieldOf(params)]),
  );
  return Array.from(kinds.values(), ([first, ...others]) =>
    first === undefined ? [] : others.length === 0 ? [first] : [joinGroups(first, others, examples)],
  ).flat();
}

function joinGroups(group: NoticeGroup, others: readonly NoticeGroup[], examples: number): NoticeGroup {
  const groups = [group, ...others];
  return {
    ...group,
    text: sharedText(groups.map(({ first }) => first)),
    ids: groups.flatMap(({ ids }) => ids).slice(0, examples),
    count: groups.reduce((sum, { count }) => sum + count, 0),
  };
}

/**
 * Returns one text for several notices with the same reason. The text contains only parameters that are equal in all
 * notices. If these parameters do not suffice, returns the text of the first notice with a note.
 */
function sharedText([first, ...others]: readonly Notice[]): string {
  if (first === undefined) return '';
  const entries = Object.entries({ ...first.params, ...defined({ field: fieldOf(first.params) }) });
  const isShared = (name: string, value: string) =>
    others.every(({ params }) => (name === 'field' ? fieldOf(params) : params?.[name]) === value);
  const params = Object.fromEntries(entries.filter(([name, value]) => isShared(name, value)));
  const row = rows.get(first.reason ?? '');
  return row !== undefined && hasParams(row, params)
    ? noticeMessage({ ...first, params })
    : `${noticeMessage(first)} (the details of the other records differ)`;
}

/** Returns the path of the field that a notice is about, such as `roles`, without positions in lists. */
function fieldOf(params: IssueParams | undefined): string | undefined {
  return params?.field?.replaceAll(/\[\d+\]/g, '');
}

function groupText({ first, text, ids, count, isLeast }: NoticeGroup): string {
  if (count === 1 || ids.length === 0) return noticeText(first);
  return `${isLeast ? 'at least ' : ''}${counted(count, nounIn(first))}: ${text}: ${firstOf(ids, count)}`;
}

export function noticeLines(
  notices: readonly Notice[],
  noun: string,
  omitted = 0,
  examples: number = MAX_EXAMPLES,
): string[] {
  const groups = groupNotices(notices, omitted, examples);
  const hidden = groups.slice(MAX_LINES).reduce((sum, { count }) => sum + count, 0);
  return firstLines(groups.slice(0, MAX_LINES).map(groupText), noun, omitted, hidden);
}

export function firstNotices(notices: readonly RecordWarning[]): string[] {
  return firstLines(
    notices.map(({ message }) => message),
    'warning',
  );
}

/**
 * Returns the lines about records that ZITADEL wrote into the wrong organisation. Print these lines before all other
 * notices.
 */
export function elsewhereLines(elsewhere: readonly Notice[]): Line[] {
  return firstLines(elsewhere.map(noticeText), 'record').map((text) => ({ text, style: 'bad' }));
}

/** `examples` is the maximum number of ids on a line. */
const noticeKinds = {
  error: { heading: 'Errors', noun: 'error', style: 'bad', examples: 10 },
  warning: { heading: 'Warnings', noun: 'warning', style: 'warning', examples: MAX_EXAMPLES },
  'left to do': {
    heading: 'Left to do by hand',
    noun: 'thing left to do',
    style: undefined,
    examples: MAX_EXAMPLES,
  },
} as const;

export type NoticeKind = keyof typeof noticeKinds;

/** @param others further texts, which follow the notices */
export function shownNotices(
  kind: NoticeKind,
  notices: readonly Notice[],
  omitted?: number,
  others: readonly string[] = [],
): { readonly heading: string; readonly lines: readonly Line[] } {
  const { heading, noun, style, examples } = noticeKinds[kind];
  const lines = [...noticeLines(notices, noun, omitted, examples), ...others];
  return { heading, lines: lines.map((text) => (style === undefined ? text : { text, style })) };
}

export function noticeSection(...notices: Parameters<typeof shownNotices>): Line[] {
  const { heading, lines } = shownNotices(...notices);
  return section(heading, lines);
}
