import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { IdentityError } from '../shared/errors/identityError.ts';
import { configureLog } from '../shared/log.ts';
import { hasDatabase, openStore } from '../shared/store/openStore.ts';
import { runAudited } from './auditedRun.ts';
import {
  type Command,
  type InstanceLocation,
  type Invocation,
  instanceLocation,
  type ListOutput,
  type Output,
  UsageError,
} from './command.ts';
import { commands } from './commands.ts';
import { commandHelp, commonOptions, help } from './help.ts';

configureLog('info', process.stderr);
process.exitCode = await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  try {
    await runCommand(words);
    return 0;
  } catch (error) {
    process.stderr.write(`identity: ${errorMessage(error)}\n`);
    return 1;
  }
}

async function runCommand(words: readonly string[]): Promise<void> {
  const command = findCommand(words);
  if (command === undefined) {
    if (words.length === 0 || words.includes('--help') || words.includes('-h')) return print(help());
    throw new UsageError(`unknown command ${words.join(' ')}: run identity --help for a list`);
  }
  const { values, positionals } = parseArguments(command, words);
  if (values.help === true) return print(commandHelp(command));
  const isComplete = positionals.length === command.positionals;
  if (!isComplete && !(command.positionalsOptional === true && positionals.length === 0))
    throw new UsageError(`usage: identity ${command.name} ${command.usage}`);
  const location = locationFor(command, asText(values.data), asText(values.firestore));
  const run = await command.load();
  const optionNames = Object.keys(command.options);
  const options = Object.fromEntries(optionNames.map((name) => [name, asText(values[name])]));
  await (await command.loadPreparation?.())?.(location.store, positionals, options);
  const store = await openStore(location.store);
  try {
    const lists = Object.fromEntries(optionNames.map((name) => [name, asTexts(values[name])]));
    const flags = new Set(optionNames.filter((name) => values[name] === true));
    const { defaultName } = location;
    const environment = { ...process.env, ...location.environment };
    const invocation: Invocation = {
      store,
      location: location.store,
      defaultName,
      options,
      lists,
      flags,
      positionals,
      environment,
      now: new Date(),
      signal: stopSignal(),
    };
    const output = await (command.isAudited ? runAudited(command, invocation, run) : run(invocation));
    if (output !== undefined) await printOutput(output, values.json === true);
  } finally {
    await store.close();
  }
}

function locationFor(command: Command, data: string | undefined, firestore: string | undefined): InstanceLocation {
  const masterKey = process.env.IDENTITY_MASTER_KEY || undefined;
  const location = instanceLocation(data, firestore, masterKey);
  if (command.createsDatabase === true || hasDatabase(location.store)) return location;
  throw new UsageError(`no instance in ${data}: create one with identity init`);
}

function findCommand(words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, index) => words[index] === word));
}

function parseArguments(command: Command, words: readonly string[]) {
  const args = words.slice(command.name.split(' ').length);
  try {
    const options = { ...command.options, ...commonOptions };
    const parsed = parseArgs({ args, options, allowPositionals: true });
    const values: Readonly<Record<string, unknown>> = parsed.values;
    return { values, positionals: parsed.positionals };
  } catch (error) {
    throw new UsageError(`${errorMessage(error)}; usage: identity ${command.name} ${command.usage}`.trim());
  }
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function asTexts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.map(String) : undefined;
}

/** Returns a signal that aborts at the first SIGINT or SIGTERM. A second one ends the process as usual. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  return controller.signal;
}

async function printOutput(output: Output | ListOutput, asJson: boolean): Promise<void> {
  if ('rows' in output) await pipeline(lines(output, asJson), process.stdout, { end: false });
  else print(asJson ? JSON.stringify(output.json) : output.text);
}

/** Yields the text of a list, which may be longer than the memory. */
async function* lines({ name, rows }: ListOutput, asJson: boolean): AsyncGenerator<string> {
  let count = 0;
  if (asJson) yield `{${JSON.stringify(name)}:[`;
  for await (const { json, text } of rows) {
    yield asJson ? `${count === 0 ? '' : ','}${JSON.stringify(json)}` : `${text}\n`;
    count++;
  }
  if (asJson) yield ']}\n';
  else if (count === 0) yield `no ${name}\n`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Returns the message to print. Only an unexpected error includes its stack. */
function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof UsageError || error instanceof IdentityError) return error.message;
  return 'code' in error ? error.message : (error.stack ?? error.message);
}
