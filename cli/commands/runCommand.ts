import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { Audit } from '../../shared/audit/audit.ts';
import { type AuditFacts, MAX_RECORDED_CHARACTERS, organisationFacts } from '../../shared/audit/auditEvent.ts';
import { openAudit, systemAccount } from '../../shared/audit/openAudit.ts';
import { defined } from '../../shared/defined.ts';
import { commandInterrupted, instanceMissing } from '../../shared/errors/commandErrors.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { configureLog } from '../../shared/log.ts';
import { hasDatabase, openStore } from '../../shared/store/openStore.ts';
import type { Store } from '../../shared/store/store.ts';
import { systemCode } from '../../shared/systemCode.ts';
import { instanceLocation } from '../places/instanceLocation.ts';
import {
  type Command,
  type CommandCall,
  type ExitStatus,
  type GivenValues,
  type InstanceCommand,
  interruptible,
  type ListOutput,
  type Output,
  type Surroundings,
  usageError,
} from '../terminal/command.ts';
import { type Layout, layOut, layOutTable, layoutOf, printable, printableJson } from '../terminal/terminal.ts';
import { parseValues } from './parseValues.ts';

type AnyOutput = Output | ListOutput | undefined;

export async function runCommand(
  command: Command,
  values: GivenValues,
  surroundings: Surroundings,
): Promise<ExitStatus> {
  configureLog('info', surroundings.stderr);
  const call: CommandCall = { ...surroundings, ...(await parseValues(command, values)) };
  const print = async (output: AnyOutput) => {
    if (output !== undefined) await printOutput(output, values.options.json !== undefined, surroundings);
    await output?.afterwards?.();
    return output?.exitStatus?.() ?? 'done';
  };
  if (command.instance === 'none') return print(await command.run(call));
  const elsewhere = command.elsewhere?.(call);
  const { data: [data] = [], firestore: [firestore] = [] } = values.options;
  if (elsewhere !== undefined && (data ?? firestore) !== undefined)
    throw usageError('an address, --data and --firestore are mutually exclusive: specify one of them');
  if (elsewhere !== undefined) return print(await elsewhere());
  const { location, defaultName, environment } = instanceLocation(data, firestore, call.environment);
  if (command.instance === 'existing' && !hasDatabase(location)) throw instanceMissing({ directory: data ?? '' });
  const onInstance = { ...call, environment };
  await command.prepare?.(onInstance, location);
  const store = await openStore(location);
  try {
    const run = () => command.run({ ...onInstance, store, location, defaultName, print });
    // A command reads a list while it prints the list. So the store must stay open until the whole list is printed.
    if (!command.isAudited) return await print(await run());
    const audit = openAudit(store, { storeLocation: location }, surroundings.stderr);
    const facts = { ...commandFacts(command, values), ...(await nameFacts(command, values, store)) };
    return await print(await runAudited(command.name, facts, audit, run));
  } finally {
    await store.close();
  }
}

/** @throws IdentityError COMMAND_INTERRUPTED if the signal stops a list that has an end */
async function printOutput(
  output: Output | ListOutput,
  asJson: boolean,
  { stdout, stderr, environment, signal }: Surroundings,
): Promise<void> {
  if (!('rows' in output)) {
    const { json, text } = output;
    const stream = output.stream === 'stderr' ? stderr : stdout;
    const shown = asJson ? printableJson(json) : layOut([text].flat(), layoutOf(stream, environment));
    stream.write(`${shown}\n`);
    return;
  }
  const list = asJson ? jsonLines(output) : textLines(output, layoutOf(stdout, environment));
  const printing = pipeline(output.isEndless ? rowLines(output, asJson) : list, stdout, { end: false, signal });
  await interruptible(signal, 'interrupted: the list is incomplete', () => printing).catch((error: unknown) => {
    // An endless list can only end by the signal, so this is no error. Readers such as `head` may close the pipe early
    // (EPIPE), whether the list is endless or not.
    if (!(output.isEndless && commandInterrupted.is(error)) && systemCode(error) !== 'EPIPE') throw error;
  });
}

async function* rowLines({ rows }: ListOutput, asJson: boolean): AsyncGenerator<string> {
  for await (const { json, cells } of rows) yield `${asJson ? printableJson(json) : cells.map(printable).join('\t')}\n`;
}

/** Yields the lines of a list as JSON. If reading the first row fails, throws the error before it yields any text. */
async function* jsonLines({ name, rows }: ListOutput): AsyncGenerator<string> {
  const start = `{${JSON.stringify(name)}:[`;
  let count = 0;
  for await (const { json } of rows) {
    yield `${count === 0 ? start : ','}${printableJson(json)}`;
    count++;
  }
  yield `${count === 0 ? start : ''}]}\n`;
}

async function* textLines({ name, heads, rows }: ListOutput, layout: Layout): AsyncGenerator<string> {
  let count = 0;
  async function* cells(): AsyncGenerator<readonly string[]> {
    for await (const row of rows) {
      yield row.cells;
      count++;
    }
  }
  for await (const line of layOutTable(heads, cells(), layout)) yield `${line}\n`;
  if (count === 0) yield `no ${name}\n`;
}

/**
 * @throws IdentityError UNAVAILABLE if the audit trail cannot record the start of the command; the command then does
 * not run
 */
async function runAudited(
  name: string,
  facts: AuditFacts,
  audit: Audit,
  run: () => Promise<AnyOutput>,
): Promise<AnyOutput> {
  try {
    const call = audit.command(name);
    let output: AnyOutput;
    await call.begin(facts, () => recordedOutput(output));
    try {
      output = await run();
      await call.end(output?.exitStatus?.() === 'unconfirmed' ? unconfirmed() : undefined);
      return output;
    } catch (error) {
      await call.end(error);
      throw error;
    }
  } finally {
    await audit.close();
  }
}

/**
 * Returns facts about a command for the audit trail. The facts contain arguments and options, which are never secrets.
 */
function commandFacts(command: InstanceCommand, { positionals, options }: GivenValues): AuditFacts {
  const isAboutOrganisations = command.arguments[0]?.value === 'ORG_ID';
  const target = isAboutOrganisations ? undefined : (positionals[0] ?? options.user?.[0]);
  const orgIds = isAboutOrganisations ? positionals : options.org;
  const others = Object.keys(command.options).filter((name) => name !== 'user' && name !== 'org');
  return {
    account: systemAccount(),
    ...defined({ target: target?.slice(0, MAX_RECORDED_CHARACTERS) }),
    ...(orgIds === undefined ? {} : organisationFacts(orgIds)),
    flags: others.flatMap((name) => (options[name] === undefined ? [] : [[`--${name}`, ...options[name]].join(' ')])),
  };
}

/**
 * Returns the name of the user whom the command concerns. The audit trail records the name, because another call may
 * delete the user later.
 */
async function nameFacts(command: InstanceCommand, { positionals, options }: GivenValues, store: Store) {
  const userId = command.arguments[0]?.value === 'USER_ID' ? positionals[0] : options.user?.[0];
  if (userId === undefined) return {};
  const { UserNames } = await import('../accounts/userNames.ts');
  const name = await new UserNames(store).find(userId);
  return defined({ name: name?.slice(0, MAX_RECORDED_CHARACTERS) });
}

const optionalId = z.string().exactOptional();
const created = z.object({ orgId: optionalId, userId: optionalId, tokenId: optionalId });

/** Returns the ids in the output for the audit trail. Omits all other fields, because they may contain a token. */
function recordedOutput(output: AnyOutput): AuditFacts {
  const json = output !== undefined && 'json' in output ? output.json : undefined;
  const { data } = created.safeParse(json);
  return data === undefined || Object.keys(data).length === 0 ? {} : { ids: data };
}

function unconfirmed(): IdentityError {
  return new IdentityError({ code: 'CANCELLED', text: 'not confirmed: nothing is changed' });
}
