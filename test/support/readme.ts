import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './program.ts';

/** A command of the README, and the output that it shows; `undefined` where it shows none. */
export interface ShownCommand {
  /** The heading that it stands under. */
  readonly heading: string;
  readonly command: string;
  readonly output: string | undefined;
}

/** The README's text. */
export function readReadme(): Promise<string> {
  return readFile(join(root, 'README.md'), 'utf8');
}

/** The `sh` blocks of a Markdown text in their order, each with the block of output that follows it. */
export function shownCommands(markdown: string): ShownCommand[] {
  const commands: ShownCommand[] = [];
  let heading = '';
  for (const [, title, language, content = ''] of markdown.matchAll(/^## (.*)$|^```(\w+)\n([\s\S]*?)^```$/gm)) {
    const last = commands.at(-1);
    if (title !== undefined) heading = title;
    else if (language === 'sh') commands.push({ heading, command: content.trimEnd(), output: undefined });
    else if (last !== undefined) commands[commands.length - 1] = { ...last, output: content.trimEnd() };
  }
  return commands;
}

/** The cells of the table under a heading, without the table's head. */
export function tableUnder(markdown: string, heading: string): string[][] {
  const [, section = ''] = markdown.split(new RegExp(`^## ${heading}$`, 'm'));
  const [body = ''] = section.split(/^## /m);
  const rows = body.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
}

const changing: readonly [RegExp, string][] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<date>'],
  [/sha256:[0-9a-f]{64}/g, '<digest>'],
  [/\bidpat_[\w-]{51}|\bidpat_…/g, '<token>'],
  [/\b[0-9a-f]{32}\b/g, '<token id>'],
  [/\b(?!330)\d{18}\b/g, '<id>'],
  [/"generation":"\d+"/g, '"generation":"<generation>"'],
  [/"crc32c":"[^"]+"/g, '"crc32c":"<checksum>"'],
];

/** A pattern for the output of a command: what differs from run to run may be anything of its kind, and `…` anything. */
export function outputPattern(shown: string): RegExp {
  const parts = withoutChanging(shown).split(/\s*…\s*/);
  return new RegExp(`^${parts.map((part) => part.replace(/[\^$.*+?()[\]{}|\\]/g, '\\$&')).join('[\\s\\S]*')}$`);
}

/** An output with its dates, ids and secrets replaced by what they are. */
export function withoutChanging(output: string): string {
  return changing.reduce((text, [pattern, name]) => text.replace(pattern, name), output.trimEnd());
}
