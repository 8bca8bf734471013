import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { withCalls } from './callTexts.ts';

export interface Layout {
  /** The number of characters in a line; infinite if the stream is not a terminal. */
  readonly columns: number;
  readonly isColoured: boolean;
}

export interface TerminalStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The assumed size of a terminal that does not report its size. */
export const DEFAULT_COLUMNS = 80;
export const DEFAULT_ROWS = 24;

/** Returns how to lay out text on a stream. Without a terminal, lines have no maximum width and no colours. */
export function layoutOf({ isTTY, columns = DEFAULT_COLUMNS }: TerminalStream, environment: NodeJS.ProcessEnv): Layout {
  if (isTTY !== true) return { columns: Number.POSITIVE_INFINITY, isColoured: false };
  const { NO_COLOR = '', TERM } = environment;
  return { columns, isColoured: NO_COLOR === '' && TERM !== 'dumb' };
}

const styleFormats = { heading: 'bold', good: 'green', warning: 'yellow', bad: 'red', soft: 'dim' } as const;

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Matches control characters and line breaks. With such characters, a printed id or name could imitate other output.
 */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu;

export function printable(text: string): string {
  return text.replace(
    unprintable,
    (character) => escapes[character] ?? `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/**
 * Returns a value as JSON, with escapes for unprintable characters. In messages, replaces command lines by the words
 * with which the user started this process.
 */
export function printableJson(value: unknown): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const withMessages = (name: string, field: unknown) =>
    name === 'message' && typeof field === 'string' ? withCalls(field) : field;
  return JSON.stringify(value, withMessages).replace(unprintable, (character) => character.replace(/./gs, escaped));
}

interface StyledLine {
  readonly text: string;
  readonly style?: keyof typeof styleFormats;
  readonly depth?: number;
  /**
   * True if the line is a command to copy. If the line is wrapped, all its parts except the last end with a backslash,
   * so that the user can copy and run the command.
   */
  readonly isCommand?: true;
}

export type Line = string | StyledLine;

export function commandLine(text: string): Line {
  return { text, isCommand: true };
}

export function warnOn(stream: Writable): (warning: string) => void {
  return (warning) => void stream.write(`identity: ${printable(warning)}\n`);
}

/** Returns a heading with indented lines; an empty list if there are no lines. */
export function section(heading: string, lines: readonly Line[]): Line[] {
  const indented = lines.map(styled).map((line) => ({ ...line, depth: (line.depth ?? 0) + 1 }));
  return indented.length === 0 ? [] : [{ text: heading, style: 'heading' }, ...indented];
}

/** Converts lines to one text for the given layout, and escapes control characters. */
export function layOut(lines: readonly Line[], layout: Layout): string {
  return lines
    .map(styled)
    .flatMap((line, index) => [...(line.style === 'heading' && index > 0 ? [''] : []), ...wrapLine(line, layout)])
    .join('\n');
}

function styled(line: Line): StyledLine {
  return typeof line === 'string' ? { text: line } : line;
}

const INDENT = '  ';

function wrapLine({ text, style, depth = 0, isCommand }: StyledLine, { columns, isColoured }: Layout): string[] {
  const start = INDENT.repeat(depth);
  return wrap(printable(text), columns - start.length, isCommand === true ? ' \\' : '').map((part) => {
    return start + (isColoured && style !== undefined ? paint(styleFormats[style], part) : part);
  });
}

function paint(format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { validateStream: false });
}

/** Wraps a line between words. A word that is longer than the line stays whole, so that the user can copy it. */
function wrap(text: string, columns: number, joint: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line.trim() === '' || textWidth(longer) + joint.length <= columns) {
      line = longer;
      continue;
    }
    lines.push(line + joint);
    line = INDENT + word;
  }
  return [...lines, line];
}

const wide =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u;

function textWidth(text: string): number {
  return [...text].reduce(
    (width, character) => width + (/\p{M}/u.test(character) ? 0 : wide.test(character) ? 2 : 1),
    0,
  );
}

const BATCH_ROWS = 200;

/**
 * Lays out the rows of a table while they are read. On a terminal, the cells are aligned below their heads. If the rows
 * are too wide for that, each cell has its own line. Without a terminal, tabs separate the cells.
 */
export async function* layOutTable(
  heads: readonly string[],
  rows: AsyncIterable<readonly string[]>,
  layout: Layout,
): AsyncGenerator<string> {
  let batch: (readonly string[])[] = [];
  let form: TableForm | undefined;
  const flush = () => {
    const shown = batch;
    batch = [];
    if (shown.length === 0) return [];
    const isFirst = form === undefined;
    form ??= tableForm(heads, shown, layout);
    return form(shown, isFirst);
  };
  for await (const row of rows) {
    batch.push(row.map(printable));
    if (layout.columns === Number.POSITIVE_INFINITY || batch.length === BATCH_ROWS) yield* flush();
  }
  yield* flush();
}

type TableForm = (rows: readonly (readonly string[])[], isFirst: boolean) => string[];

function tableForm(heads: readonly string[], first: readonly (readonly string[])[], layout: Layout): TableForm {
  const { columns, isColoured } = layout;
  if (columns === Number.POSITIVE_INFINITY) return (rows) => rows.map((row) => row.join('\t'));
  const bold = (text: string) => (isColoured ? paint('bold', text) : text);
  const widths = heads.map((head, index) =>
    Math.max(...[head, ...first.map((row) => row[index] ?? '')].map(textWidth)),
  );
  const align = (row: readonly string[]) =>
    row
      .map((cell, index) => padded(cell, widths[index]))
      .join(INDENT)
      .trimEnd();
  if (widths.reduce((sum, width) => sum + width + INDENT.length, -INDENT.length) <= columns)
    return (rows, isFirst) => [...(isFirst ? [bold(align(heads))] : []), ...rows.map(align)];
  const longest = Math.max(...heads.map(textWidth));
  const card = (row: readonly string[]) =>
    heads.map((head, index) => `${bold(padded(head, longest))}${INDENT}${row[index] ?? ''}`);
  return (rows, isFirst) => rows.flatMap((row, index) => [...(isFirst && index === 0 ? [] : ['']), ...card(row)]);
}

function padded(text: string, width = 0): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}
