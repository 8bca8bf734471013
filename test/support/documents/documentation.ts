import { glob, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { root } from '../../../tools/program.ts';

/** A Markdown file of the repository. */
interface Document {
  /** Its path from the root, such as `docs/clients.md`. */
  readonly path: string;
  readonly text: string;
}

/** An `sh` block of a document. */
export interface ShownCommand {
  readonly path: string;
  /** The heading above it. */
  readonly heading: string;
  readonly command: string;
  /** The block of output that follows it; undefined if there is none. */
  readonly output: string | undefined;
  /** The words after `sh`: the reason why the tests skip the block. Undefined for a block that they run. */
  readonly notRun: string | undefined;
}

/** Reads the repository's Markdown files: the README first, the others by their paths. */
export async function readDocuments(): Promise<readonly Document[]> {
  const paths: string[] = [];
  for await (const path of glob(['*.md', 'docs/**/*.md', 'terraform/**/*.md'], { cwd: root })) paths.push(path);
  const others = paths.filter((path) => path !== 'README.md').toSorted();
  return Promise.all(['README.md', ...others].map(readDocument));
}

/** Reads a Markdown file of the repository. */
export async function readDocument(path: string): Promise<Document> {
  return { path, text: await readFile(join(root, path), 'utf8') };
}

const headingOrBlock = /^#{1,6} (?<title>.*)$|^(?<indent> *)```(?<info>.*)\n(?<content>[\s\S]*?)^ *```$/gm;

/** Finds the `sh` blocks of a document, in their order. */
export function shownCommands({ path, text }: Document): ShownCommand[] {
  const commands: ShownCommand[] = [];
  let heading = '';
  let endOfCommand: number | undefined;
  for (const match of text.matchAll(headingOrBlock)) {
    const { title, indent = '', info = '', content = '' } = match.groups ?? {};
    const [language, ...reason] = info.split(' ');
    const lines = content.trimEnd().replace(new RegExp(`^${indent}`, 'gm'), '');
    const isOutput = endOfCommand !== undefined && text.slice(endOfCommand, match.index).trim() === '';
    endOfCommand = undefined;
    if (title !== undefined) {
      heading = title;
    } else if (language === 'sh') {
      commands.push({ path, heading, command: lines, output: undefined, notRun: reason.join(' ') || undefined });
      endOfCommand = match.index + match[0].length;
    } else if (isOutput) {
      commands.push(...commands.splice(-1).map((command) => ({ ...command, output: lines })));
    }
  }
  return commands;
}

/** Reads the commands that the manual shows, in the order of its documents. */
export async function manualCommands(): Promise<readonly ShownCommand[]> {
  const isManual = ({ path }: Document) => path === 'README.md' || /^docs\/[^/]+$/.test(path);
  return (await readDocuments()).filter(isManual).flatMap(shownCommands);
}

/** Returns the `js` blocks of a document as one module. */
export function shownModule({ text }: Document): string {
  return Array.from(text.matchAll(/^```js\n([\s\S]*?)^```$/gm), ([, block = '']) => block).join('\n');
}

/** A link to a file of the repository. */
export interface RelativeLink {
  /** The file's path from the root. */
  readonly path: string;
  /** The heading to which it leads, in the form of GitHub's anchors. */
  readonly anchor: string | undefined;
}

/** Finds the links of a document that lead to files of the repository. */
export function relativeLinks({ path, text }: Document): RelativeLink[] {
  return [...text.matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([, target = '', anchor]) => ({
    path: target === '' ? path : join(dirname(path), target),
    anchor,
  }));
}

/** Returns the headings of a document in the form of GitHub's anchors. */
export function anchors({ text }: Document): string[] {
  return [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#{1,6} (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

const changing: readonly [RegExp, string][] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<date>'],
  [/sha256:[0-9a-f]{64}/g, '<digest>'],
  [/\bidpat_[\w-]{51}|\bidpat_…/g, '<token>'],
  [/\b[0-9a-f]{32}\b/g, '<token id>'],
  [/\b(?!330000000000000)\d{18}\b/g, '<id>'],
  [/"generation":"\d+"/g, '"generation":"<generation>"'],
  [/"crc32c":"[^"]+"/g, '"crc32c":"<checksum>"'],
];

/**
 * Returns a pattern for a command's output: values that differ between runs match any value of their kind, and `…`
 * matches anything. The pattern is lazy, because a greedy pattern takes seconds for the API's description.
 */
export function outputPattern(shown: string): RegExp {
  const parts = withoutChanging(shown).split(/\s*…\s*/);
  return new RegExp(`^${parts.map((part) => part.replace(/[\^$.*+?()[\]{}|\\]/g, '\\$&')).join('[\\s\\S]*?')}$`);
}

/** Replaces the dates, ids and secrets of an output with the names of their kinds. */
export function withoutChanging(output: string): string {
  return changing.reduce((text, [pattern, name]) => text.replace(pattern, name), output.trimEnd());
}
