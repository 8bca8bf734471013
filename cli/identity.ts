import { parseArgs } from 'node:util';
import { IdentityError } from '../shared/errors/identityError.ts';
import { configureLog } from '../shared/log.ts';
import { hasDatabase, openStore } from '../shared/store/openStore.ts';
import { type Command, type Output, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { type InstanceLocation, instanceLocation } from './location.ts';

const commonOptions = {
  data: { type: 'string' },
  firestore: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

configureLog('info', process.stderr);
process.exitCode = await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  try {
    await runCommand(words);
    return 0;
  } catch (error) {
    process.stderr.write(`identity: ${messageOf(error)}\n`);
    return 1;
  }
}

async function runCommand(words: readonly string[]): Promise<void> {
  const command = commandOf(words);
  if (command === undefined) {
    if (words.length === 0 || words.includes('--help') || words.includes('-h')) return print(help());
    throw new UsageError(`unknown command: ${words.join(' ')} (identity --help lists the commands)`);
  }
  const { values, positionals } = argumentsOf(command, words);
  if (values.help === true) return print(`identity ${command.name} ${command.usage}\n  ${command.summary}`);
  if (positionals.length !== command.positionals)
    throw new UsageError(`usage: identity ${command.name} ${command.usage}`);
  const location = locationFor(command, textOf(values.data), textOf(values.firestore));
  const run = await command.load();
  const store = await openStore(location.store);
  try {
    const options = Object.fromEntries(Object.keys(command.options).map((name) => [name, textOf(values[name])]));
    const { defaultName } = location;
    const environment = { ...process.env, ...location.environment };
    const output = await run({
      store,
      defaultName,
      options,
      positionals,
      environment,
      now: new Date(),
      signal: stopSignal(),
    });
    if (output !== undefined) show(output, values.json === true);
  } finally {
    await store.close();
  }
}

function locationFor(command: Command, data: string | undefined, firestore: string | undefined): InstanceLocation {
  const location = instanceLocation(data, firestore);
  if (command.makesDatabase === true || hasDatabase(location.store)) return location;
  throw new UsageError(`--data ${data}: no instance is there; identity init makes one`);
}

function commandOf(words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, index) => words[index] === word));
}

function argumentsOf(command: Command, words: readonly string[]) {
  const args = words.slice(command.name.split(' ').length);
  try {
    const options = { ...command.options, ...commonOptions };
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const given: Readonly<Record<string, unknown>> = values;
    return { values: given, positionals };
  } catch (error) {
    throw new UsageError(`${messageOf(error)}; usage: identity ${command.name} ${command.usage}`.trim());
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Aborts at the first SIGINT or SIGTERM; a second one ends the process as usual. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  return controller.signal;
}

function show({ json, text }: Output, asJson: boolean): void {
  print(asJson ? JSON.stringify(json) : text);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function help(): string {
  const lines = commands.map(({ name, usage, summary }) => `  ${`${name} ${usage}`.trim()}\n      ${summary}`);
  return `identity COMMAND (--data DIR | --firestore PROJECT[/DATABASE]) [--json]\n\n${lines.join('\n')}`;
}

/** What went wrong, for a person: only faults of our own show their stack. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof UsageError || error instanceof IdentityError) return error.message;
  return 'code' in error ? error.message : (error.stack ?? error.message);
}
