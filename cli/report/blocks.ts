// Plans and results are lists of blocks. This module prints blocks as text and as JSON.

import { type Notice, type NoticeKind, noticeText, shownNotices } from '../terminal/notices.ts';
import { firstLines, numberText } from '../terminal/numberTexts.ts';
import { type Line, section } from '../terminal/terminal.ts';

/** A bar of a chart. Its parts are, for example, the created and the failed records of a section. */
export interface Bar {
  readonly name: string;
  readonly parts: readonly { readonly name: string; readonly count: number; readonly tone: 'good' | 'soft' | 'bad' }[];
}

/** A part of a plan or a result. The terminal, the page and JSON print the same list of blocks. */
export interface Block {
  readonly title?: string;
  /** All lines, for the page. */
  readonly lines: readonly Line[];
  /** The lines for the terminal, by default all. */
  readonly short?: readonly Line[];
  /** The chart above the lines of the page. */
  readonly picture?: readonly Bar[];
  /** The fields of the JSON. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Returns the lines of blocks for the terminal. */
export function blockLines(blocks: readonly Block[]): Line[] {
  return blocks.flatMap(({ title, lines, short = lines }) =>
    title === undefined ? [...short] : section(title, short),
  );
}

/** Merges the JSON fields of blocks. */
export function blockJson(blocks: readonly Block[]): Record<string, unknown> {
  return Object.assign({}, ...blocks.map(({ data }) => data));
}

/**
 * Returns a block with a list. The terminal shows its first lines.
 * @param omitted the number of further items, which the list omits
 */
export function listBlock(
  title: string,
  lines: readonly string[],
  noun: string,
  data: NonNullable<Block['data']> = {},
  omitted = 0,
): Block {
  return { title, lines: withOmitted(lines, omitted), short: firstLines(lines, noun, omitted), data };
}

/**
 * Returns a block with notices. The terminal shows them in groups.
 * @param others texts of the same kind, which come last
 */
export function noticeBlock(
  kind: NoticeKind,
  notices: readonly Notice[],
  data: NonNullable<Block['data']>,
  omitted = 0,
  others: readonly string[] = [],
): Block {
  const { heading, lines } = shownNotices(kind, notices, omitted, others);
  const all = notices.map((notice) => withFurther(noticeText(notice), notice.further));
  return { title: heading, lines: withOmitted([...all, ...others], omitted), short: lines, data };
}

function withFurther(text: string, further = 0): string {
  return further === 0 ? text : `${text} (and ${numberText(further)} more)`;
}

/** Returns lines, and a last line with the number of omitted items if there are any. */
export function withOmitted(lines: readonly string[], omitted: number): string[] {
  return omitted === 0 ? [...lines] : [...lines, `and ${numberText(omitted)} more`];
}
