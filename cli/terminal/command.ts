// Definitions of commands: options, calls, output and exit codes. The options are not zod schemas, because loading zod
// takes 80 ms.

import type { Readable, Writable } from 'node:stream';
import { commandInterrupted, configurationInvalid, usageInvalid } from '../../shared/errors/commandErrors.ts';
import type { IdentityError } from '../../shared/errors/identityError.ts';
import type { StoreLocation } from '../../shared/store/openStore.ts';
import type { Store } from '../../shared/store/store.ts';
import type { Line, TerminalStream } from './terminal.ts';
import type { Value, ValueName } from './valueFormats.ts';

/** A heading in the help, under which options are listed. */
export type OptionGroup = 'Instance (one of)' | 'Places and credentials' | 'Selection and conflicts' | 'Run and output';

/** An argument, or an option with values. */
export interface Parameter {
  /** The format of the values, such as DURATION. */
  readonly value: ValueName;
  readonly meaning: string;
  readonly isRequired: boolean;
  /** Whether the user may specify several values. Among the arguments, only the last can have several values. */
  readonly isRepeatable: boolean;
  readonly group?: OptionGroup | undefined;
}

interface Flag {
  readonly value?: undefined;
  readonly meaning: string;
  readonly group?: OptionGroup | undefined;
}

/** An option of a command. */
export type Option = Parameter | Flag;

/** The options of a command, by their names after the dashes. */
export type Options = Readonly<Record<string, Option>>;

/** Describes a required argument or option. */
export function required<const Name extends ValueName>(value: Name, meaning: string, group?: OptionGroup) {
  return { value, meaning, isRequired: true, isRepeatable: false, group } as const;
}

/** Describes an optional argument or option. */
export function optional<const Name extends ValueName>(value: Name, meaning: string, group?: OptionGroup) {
  return { value, meaning, isRequired: false, isRepeatable: false, group } as const;
}

/** Describes an optional argument or option that may be repeated. */
export function repeatable<const Name extends ValueName>(value: Name, meaning: string, group?: OptionGroup) {
  return { value, meaning, isRequired: false, isRepeatable: true, group } as const;
}

/** Describes a required argument that may be repeated. */
export function oneOrMore<const Name extends ValueName>(value: Name, meaning: string) {
  return { value, meaning, isRequired: true, isRepeatable: true } as const;
}

/** Describes an option without a value. */
export function flag(meaning: string, group?: OptionGroup): Flag {
  return { meaning, group };
}

/** The type of a described value; unknown if the description is unknown. */
type Given<Described extends Option> = [Parameter] extends [Described]
  ? unknown
  : Described extends Parameter
    ? Described['isRepeatable'] extends true
      ? readonly Value<Described['value']>[]
      : Described['isRequired'] extends true
        ? Value<Described['value']>
        : Value<Described['value']> | undefined
    : boolean;

/** The parsed values of described arguments or options. */
export type Values<Described> = {
  readonly [Key in keyof Described]: Described[Key] extends Option ? Given<Described[Key]> : never;
};

/** The unparsed arguments and options of a call, by the options' names. The list of a flag is empty. */
export interface GivenValues {
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, readonly string[]>>;
}

/** The streams, environment, time and signal of a call. They belong to the process, unless a test provides others. */
export interface Surroundings {
  readonly stdin: Readable & TerminalStream & { setRawMode?(isRaw: boolean): unknown };
  readonly stdout: Writable & TerminalStream;
  readonly stderr: Writable & TerminalStream;
  /** The environment variables. The variables that select a database correspond to `--data` or `--firestore`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The time of the call. */
  readonly now: Date;
  /** Aborts when the call must stop. */
  readonly signal: AbortSignal;
}

/** The input of a command. */
export interface CommandCall<Arguments = readonly Parameter[], Own = Options> extends Surroundings {
  readonly arguments: Values<Arguments>;
  readonly options: Values<Own>;
}

/** The instance that a command reads or changes. */
export interface OpenInstance {
  readonly store: Store;
  readonly location: StoreLocation;
  /** The default name of the instance: the name of its directory or database. */
  readonly defaultName: string;
  /** Prints an output before the command ends. */
  print(output: Output): Promise<unknown>;
}

interface Printed {
  /** Returns the exit status. Called after the output was printed; `done` by default. */
  readonly exitStatus?: () => ExitStatus;
  /** Does work after the output was printed. The output stays printed even if this work fails. */
  readonly afterwards?: () => Promise<void>;
}

/** A command's output: JSON with `--json`, otherwise text. */
export interface Output extends Printed {
  readonly json: unknown;
  /** The lines. The layout depends on the stream. */
  readonly text: Line | readonly Line[];
  /** Standard output by default; standard error if standard output receives other data. */
  readonly stream?: 'stdout' | 'stderr';
}

/** A row of a list. */
export interface Row {
  readonly json: unknown;
  readonly cells: readonly string[];
}

/**
 * A list that the command prints while it reads the list. With `--json`, the list is the field `name` of an object,
 * otherwise a table.
 */
export interface ListOutput extends Printed {
  readonly name: string;
  readonly heads: readonly string[];
  readonly rows: AsyncIterable<Row>;
  /**
   * Whether the list ends only when a signal stops the command, as with `audit --follow`. Each row is then one line,
   * also with `--json`.
   */
  readonly isEndless?: boolean;
}

/** Returns a list as output, with one column per head. */
export function toList<Element>(
  name: string,
  elements: AsyncIterable<Element> | Iterable<Element>,
  columns: Readonly<Record<string, (element: Element) => string>>,
): ListOutput {
  async function* rows(): AsyncGenerator<Row> {
    for await (const json of elements) yield { json, cells: Object.values(columns).map((cell) => cell(json)) };
  }
  return { name, heads: Object.keys(columns), rows: rows() };
}

type CommandResult = Promise<Output | ListOutput | undefined>;

/** The description of a command in help and documents. */
interface CommandDescription<Arguments, Own> {
  /** The words that select the command, such as `pat create`. */
  readonly name: string;
  /** One sentence, short enough for one line in the list of all commands. */
  readonly summary: string;
  /** Further sentences, which only the command's own help contains. */
  readonly details?: string;
  readonly arguments: Arguments;
  readonly options: Own;
  /** Complete calls, without the word `identity`. */
  readonly examples: readonly [string, ...string[]];
}

/**
 * A command on an instance, which `--data` or `--firestore` selects. Its functions are methods, so that commands with
 * different options fit into one list. `parseValues` ensures that a call contains the values that the command
 * describes.
 */
export interface InstanceCommand<Arguments = readonly Parameter[], Own = Options>
  extends CommandDescription<Arguments, Own> {
  /** Whether the instance must exist, or the command creates it. */
  readonly instance: 'existing' | 'created';
  /** Whether the command changes something or copies secrets. The audit trail then records each call. */
  readonly isAudited?: true;
  /** Checks the call before the database is opened. A command may create its database here. */
  prepare?(call: CommandCall<Arguments, Own>, location: StoreLocation): Promise<void>;
  /** Returns the work of a call on a place other than `--data` or `--firestore`; undefined for any other call. */
  elsewhere?(call: CommandCall<Arguments, Own>): (() => Promise<Output>) | undefined;
  /** Runs the command. Imports the command's modules only now, because every call loads all definitions. */
  run(call: CommandCall<Arguments, Own> & OpenInstance): CommandResult;
}

/** A command that opens no database by itself. */
export interface StandaloneCommand<Arguments = readonly Parameter[], Own = Options>
  extends CommandDescription<Arguments, Own> {
  readonly instance: 'none';
  /** Runs the command. Imports the command's modules only now. */
  run(call: CommandCall<Arguments, Own>): CommandResult;
}

/** A command of `identity`. */
export type Command = InstanceCommand | StandaloneCommand;

/**
 * Defines a command on an instance, which must exist by default.
 * @example
 *     export const orgListCommand = defineInstanceCommand({
 *       name: 'org list',
 *       summary: 'list the organisations: id, state and name',
 *       arguments: [],
 *       options: {},
 *       examples: ['org list --data ./north'],
 *       run: async ({ store }) => toList('organisations', listOrganisations(store), { id: ({ orgId }) => orgId }),
 *     });
 */
export function defineInstanceCommand<const Arguments extends readonly Parameter[], const Own extends Options>(
  command: Omit<InstanceCommand<Arguments, Own>, 'instance'> & { readonly instance?: 'created' },
): InstanceCommand<Arguments, Own> {
  return { instance: 'existing', ...command };
}

/** Defines a command that opens no database by itself. */
export function defineCommand<const Arguments extends readonly Parameter[], const Own extends Options>(
  command: Omit<StandaloneCommand<Arguments, Own>, 'instance'>,
): StandaloneCommand<Arguments, Own> {
  return { ...command, instance: 'none' };
}

/** Creates an error for a mistake of the user in the call of a command. */
export function usageError(problem: string): IdentityError {
  return usageInvalid({ problem });
}

/** Whether the call of a command, or its environment, is wrong. */
export function isUsageError(error: unknown): error is IdentityError {
  return usageInvalid.is(error) || configurationInvalid.is(error);
}

/** The exit codes of all commands, with their meanings for the help. */
export const exitCodes = {
  done: { code: 0, meaning: 'done, or equal' },
  failed: { code: 1, meaning: 'failed: standard error contains the reason' },
  unconfirmed: {
    code: 2,
    meaning:
      'not confirmed: no terminal and no --yes, or the source, the target or the plan changed after the dry run that printed the digest of --expect',
  },
  listed: { code: 3, meaning: 'finished, with differences or errors listed' },
  usage: { code: 64, meaning: 'usage: an argument, option or environment variable is wrong' },
  hungUp: { code: 129, meaning: 'interrupted because its terminal closed: repeat the command' },
  interrupted: { code: 130, meaning: 'interrupted: repeat the command' },
} as const;

/** How a command ended. */
export type ExitStatus = keyof typeof exitCodes;

/** The message of an interrupted command that only reads. */
export const NOTHING_CHANGED = 'interrupted: nothing was changed; repeat the command';

/**
 * Does work that a signal can abort.
 * @param message the message of the interruption, which describes how to continue, or a function that returns it
 * @throws IdentityError COMMAND_INTERRUPTED for any error of the work after the signal has aborted
 */
export async function interruptible<Result>(
  signal: AbortSignal,
  message: string | (() => string),
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted) throw error;
    throw commandInterrupted({ interruption: typeof message === 'string' ? message : message() });
  }
}
