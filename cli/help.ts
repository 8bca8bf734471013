import type { Command } from './command.ts';
import { commands } from './commands.ts';

/** The options of every command, in the form of `parseArgs`, with their usage and meaning for the help. */
export const commonOptions = {
  data: { type: 'string', usage: '--data DIR', meaning: 'the directory of a self-hosted instance' },
  firestore: {
    type: 'string',
    usage: '--firestore PROJECT[/DATABASE]',
    meaning: 'the Firestore database of a cloud-hosted instance',
  },
  json: { type: 'boolean', usage: '--json', meaning: 'print one JSON document on standard output' },
  help: { type: 'boolean', short: 'h', usage: '-h, --help', meaning: 'print this help, or that of a command' },
} as const;

/** The exit codes of every command. */
export const exitCodes: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'success'],
  [1, 'failure, usage errors included; standard error names the problem'],
];

/** The form of every call. */
export const synopsis = 'identity COMMAND (--data DIR | --firestore PROJECT[/DATABASE]) [--json]';

/** Writes the help on all commands. */
export function help(): string {
  return [synopsis, lines(commands.map(helpRow)), 'Options:', lines(Object.values(commonOptions).map(optionRow))]
    .concat('Exit codes:', lines(exitCodes.map(([code, meaning]) => [String(code), meaning])))
    .join('\n\n');
}

/** Writes the help on one command. */
export function commandHelp(command: Command): string {
  const [call, summary] = helpRow(command);
  return `identity ${call}\n  ${summary}`;
}

/** Returns a command's call and its summary. */
export function helpRow({ name, usage, summary }: Command): Row {
  return [`${name} ${usage}`.trim(), summary];
}

type Row = readonly [left: string, meaning: string];

const optionRow = ({ usage, meaning }: { readonly usage: string; readonly meaning: string }): Row => [usage, meaning];

function lines(rows: readonly Row[]): string {
  return rows.map(([left, meaning]) => `  ${left}\n      ${meaning}`).join('\n');
}
