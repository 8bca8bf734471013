import { commands } from '../../cli/commands.ts';
import { commonOptions, exitCodes, helpRow, synopsis } from '../../cli/help.ts';
import { code, table } from './markdown.ts';

const INTRODUCTION = `# The \`identity\` command

It sets up an instance, serves it, and manages its accounts. In a clone, run it as \`npm run -s identity -- COMMAND\`.

    ${synopsis}

Commands and a running \`serve\` may use the same instance at the same time.
Commands that change something or copy secrets are put on record in the [audit trail](operations.md#audit-trail).
[errors.md](errors.md#the-identity-command) lists the errors.`;

/** Writes `docs/command.md` from the command's own help. */
export function commandDocument(): string {
  const creating = commands.filter(({ createsDatabase }) => createsDatabase === true).map(({ name }) => code(name));
  return [
    INTRODUCTION,
    '## Commands',
    table(
      ['command', 'what it does'],
      commands.map(helpRow).map(([call, summary]) => [code(call), summary]),
    ),
    `With \`--data\`, ${creating.join(' and ')} create the database if it does not exist; the others require it.`,
    '## Options of every command',
    table(
      ['option', 'meaning'],
      Object.values(commonOptions).map(({ usage, meaning }) => [code(usage), meaning]),
    ),
    'Specify either `--data` or `--firestore`.',
    '## Exit codes',
    table(
      ['code', 'meaning'],
      exitCodes.map(([number, meaning]) => [String(number), meaning]),
    ),
  ].join('\n\n');
}
