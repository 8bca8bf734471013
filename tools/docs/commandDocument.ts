import type { Command, Option } from '../../cli/command.ts';
import { exitCodes } from '../../cli/command.ts';
import { commands, commandTables } from '../../cli/commands.ts';
import { commandTerm, commandUsage, commonOptions, optionUsage } from '../../cli/help.ts';
import { instanceOptions } from '../../cli/instanceLocation.ts';
import { type ValueName, valueKind } from '../../cli/values.ts';
import { code, table } from './markdown.ts';

const INSTALLATION = `## Install

\`npm run package\` compiles the command with its server into one package without dependencies, about 2 MB. It needs Node 24.7 or later.

\`\`\`sh takes minutes
npm ci && npm run package
npm install --global ./dist/identity-service-cli-*.tgz
identity init --data ./north --token-file owner.pat
identity serve --data ./north
\`\`\``;

const INTRODUCTION = `# The \`identity\` command

It sets up an instance, serves it, manages its accounts, and moves organisations between places. In a clone, run it as \`npm run -s identity -- COMMAND\`.

Commands and a running \`serve\` may use the same instance at the same time.
Commands that change something or copy secrets are put on record in the [audit trail](operations.md#audit-trail).
[errors.md](errors.md#the-identity-command) lists the errors. With \`LOG_LEVEL=debug\`, an unexpected fault is printed with its place in the code.
\`NO_COLOR\` removes bold text from the help.

\`identity help COMMAND\` describes a command, and \`--version\` prints the version.`;

/** Writes `docs/command.md` from the tables of commands. */
export function commandDocument(): string {
  return [
    INTRODUCTION,
    INSTALLATION,
    '## Commands',
    table(
      ['command', 'what it does'],
      commands.map((command) => [code(commandTerm(command)), command.summary]),
    ),
    instanceParagraph(),
    '## Exit codes',
    table(
      ['code', 'meaning'],
      Object.values(exitCodes).map((exit) => [String(exit.code), exit.meaning]),
    ),
    ...commandTables.flatMap(({ title, commands: members }) => [`## ${title}`, ...members.map(section)]),
  ].join('\n\n');
}

function instanceParagraph(): string {
  const creating = commands.filter(({ instance }) => instance === 'created').map(({ name }) => code(name));
  const options = Object.entries(instanceOptions).map(
    ([name, option]) => `${code(optionUsage(name, option))}, ${option.meaning}`,
  );
  return `A command on an instance needs ${options.join(', or ')}. With \`--data\`, ${creating.join(' and ')} create the instance; the others require it.`;
}

function section(command: Command): string {
  const { name, examples, options } = command;
  const rows = [
    ...command.arguments.map(({ value, meaning }) => [code(value), meaning + choices(value)]),
    ...Object.entries({ ...options, ...commonOptions(command) }).map(([option, described]) => [
      code(optionUsage(option, described)),
      optionMeaning(described),
    ]),
  ];
  const calls = [`identity ${name} ${commandUsage(command)}`, '', ...examples.map((example) => `identity ${example}`)];
  return [`### ${name}`, codeBlock(calls), table(['argument', 'meaning'], rows)].join('\n\n');
}

function codeBlock(lines: readonly string[]): string {
  return ['```text', ...lines, '```'].join('\n');
}

function optionMeaning(option: Option): string {
  if (option.value === undefined) return option.meaning;
  const { value, meaning, isRequired, isRepeatable } = option;
  const notes = [...(isRequired ? ['required'] : []), ...(isRepeatable ? ['can be repeated'] : [])];
  return `${meaning}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}${choices(value)}`;
}

function choices(value: ValueName): string {
  const { choices: names = [] } = valueKind(value);
  return names.length === 0 ? '' : `: ${names.map(code).join(', ')}`;
}
