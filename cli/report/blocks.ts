import { type Notice, type NoticeKind, noticeText, shownNotices } from '../terminal/notices.ts';
import { firstLines, numberText } from '../terminal/numberTexts.ts';
import { type Line, section } from '../terminal/terminal.ts';

/**
 * A bar of a chart. For example, a bar shows a section, and its parts show the numbers of created and failed records.
 */
export interface Bar {
  readonly name: string;
  readonly parts: readonly { readonly name: string; readonly count: number; readonly tone: 'good' | 'soft' | 'bad' }[];
}

/**
 * A part of a plan or a result. The same list of blocks is printed on the terminal, in the report's page and as JSON.
 */
export interface Block {
  readonly title?: string;
  /** The lines in the report's page. */
  readonly lines: readonly Line[];
  /** The lines on the terminal. If absent, the terminal shows the lines of the page. */
  readonly short?: readonly Line[];
  /** The chart above the lines, in the page only. */
  readonly picture?: readonly Bar[];
  readonly data?: Readonly<Record<string, unknown>>;
}

export function blockLines(blocks: readonly Block[]): Line[] {
  return blocks.flatMap(({ title, lines, short = lines }) =>
    title === undefined ? [...short] : section(title, short),
  );
}

export function blockJson(blocks: readonly Block[]): Record<string, unknown> {
  return Object.assign({}, ...blocks.map(({ data }) => data));
}

/**
 * Creates a block with a list, of which the terminal shows only the first lines.
 * @param omitted the number of further items, which `lines` does not contain
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
 * Creates a block with errors, warnings or manual steps, which the terminal groups by their texts.
 * @param others further texts, which follow the groups
 */
export function noticeBlock(
  kind: NoticeKind,
  notices: readonly Notice[],
  data: NonNullable<Block['data']>,
  omitted = 0,
  others: readonly string[] = [],
): Block {
  const { heading, lines } = shownNotices(kind, notices, omitted, others);
  const fullLines = notices.map((notice) => withFurther(noticeText(notice), notice.further));
  return { title: heading, lines: withOmitted([...fullLines, ...others], omitted), short: lines, data };
}

function withFurther(text: string, further = 0): string {
  return further === 0 ? text : `${text} (and ${numberText(further)} more)`;
}

export function withOmitted(lines: readonly string[], omitted: number): string[] {
  return omitted === 0 ? [...lines] : [...lines, `and ${numberText(omitted)} more`];
}
