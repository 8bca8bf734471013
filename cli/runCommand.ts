import type { Command as Program } from 'commander';
import { instanceMissing } from '../shared/errors/commandErrors.ts';
import { configureLog } from '../shared/log.ts';
import { hasDatabase, openStore } from '../shared/store/openStore.ts';
import { runAudited } from './auditedRun.ts';
import { checkValues } from './checkValues.ts';
import type { Call, Command, GivenValues, InstanceCommand, ListOutput, Output } from './command.ts';
import type { Ending } from './exitCodes.ts';
import { instanceLocation } from './instanceLocation.ts';
import { printOutput } from './output.ts';
import { commonOptions } from './usage.ts';

/**
 * Checks the values of a call, runs its command and prints the output.
 * @returns how the command ended
 */
export async function runCommand(command: Command, given: GivenValues, program: Program): Promise<Ending> {
  configureLog('info', process.stderr);
  checkValues(command, [...command.options, ...commonOptions(command)], given);
  const call = readCall(command, given);
  const print = async (output: Output | ListOutput | undefined) => {
    if (output !== undefined) await printOutput(output, given.options.json !== undefined, call.signal);
    return output?.ending?.() ?? 'done';
  };
  if (command.instance !== 'none') return runOnInstance(command, call, given, print);
  const run = await command.load();
  return print(await run(call, program));
}

/** @param print prints the output before the database is closed: lists are read from it meanwhile */
async function runOnInstance(
  command: InstanceCommand,
  call: Call,
  { options: { data, firestore } }: GivenValues,
  print: (output: Output | ListOutput | undefined) => Promise<Ending>,
): Promise<Ending> {
  const masterKey = process.env.IDENTITY_MASTER_KEY || undefined;
  const { store: location, ...rest } = instanceLocation(data?.[0], firestore?.[0], masterKey);
  if (command.instance === 'existing' && !hasDatabase(location)) throw instanceMissing(data?.[0] ?? '');
  const run = await command.load();
  await (await command.loadPreparation?.())?.(location, call.positionals, call.options);
  const store = await openStore(location);
  try {
    const environment = { ...call.environment, ...rest.environment };
    const invocation = { ...call, ...rest, environment, store, location };
    return await print(await (command.isAudited ? runAudited(command, invocation, run) : run(invocation)));
  } finally {
    await store.close();
  }
}

function readCall({ options }: Command, given: GivenValues): Call {
  const valued = options.filter(({ value }) => value !== undefined);
  const single = valued.filter(({ isRepeatable }) => isRepeatable !== true);
  const repeatable = valued.filter(({ isRepeatable }) => isRepeatable === true);
  const flags = options.filter(({ name, value }) => value === undefined && given.options[name] !== undefined);
  return {
    positionals: given.positionals,
    options: Object.fromEntries(single.map(({ name }) => [name, given.options[name]?.[0]])),
    lists: Object.fromEntries(repeatable.map(({ name }) => [name, given.options[name]])),
    flags: new Set(flags.map(({ name }) => name)),
    environment: process.env,
    now: new Date(),
    signal: stopSignal(),
  };
}

/** Returns a signal that aborts at the first SIGINT or SIGTERM. A second one ends the process as usual. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  return controller.signal;
}
