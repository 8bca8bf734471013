// Definitions of commands: options, calls, output and exit codes. The options are not zod schemas, because loading zod
// takes 80 ms.

import type { Readable, Writable } from 'node:stream';
import { commandInterrupted, configurationInvalid, usageInvalid } from '../../shared/errors/commandErrors.ts';
import type { IdentityError } from '../../shared/errors/identityError.ts';
import type { StoreLocation } from '../../shared/store/openStore.ts';
import type { Store } from '../../shared/store/store.ts';
import type { Line, TerminalStream } from './terminal.ts';
import type { Value, ValueName } from './valueFormats.ts';

export type OptionGroup = 'Instance (one of)' | 'Places and credentials' | 'Selection and conflicts' | 'Run and output';

export interface Parameter {
  /** The format of a value, such as DURATION. */
  readonly value: ValueName;
  readonly meaning: string;
  readonly isRequired: boolean;
  /** True if the user may specify several values. Only the last argument of a command may be repeatable. */
  readonly isRepeatable: boolean;
  readonly group?: OptionGroup | undefined;
}

interface Flag {
  readonly value?: undefined;
  readonly meaning: string;
  readonly group?: OptionGroup | undefined;
}

export type Option = Parameter | Flag;

/** A key is the name of an option, without the dashes. */
export type Options = Readonly<Record<string, Option>>;

export function required<const Name extends ValueName>(value: Name, meaning: string, group?: OptionGroup) {
  return { value, meaning, isRequired: true, isRepeatable: false, group } as const;
}

export function optional<const Name extends ValueName>(value: Name, meaning: string, group?: OptionGroup) {
  return { value, meaning, isRequired: false, isRepeatable: false, group } as const;
}

export function repeatable<const Name extends ValueName>(value: Name, meaning: string, group?: OptionGroup) {
  return { value, meaning, isRequired: false, isRepeatable: true, group } as const;
}

export function oneOrMore<const Name extends ValueName>(value: Name, meaning: string) {
  return { value, meaning, isRequired: true, isRepeatable: true } as const;
}

export function flag(meaning: string, group?: OptionGroup): Flag {
  return { meaning, group };
}

/**
 * The type of the value of an argument or option. If TypeScript knows the description only as `Parameter`, the value is
 * `unknown`.
 */
type Given<Described extends Option> = [Parameter] extends [Described]
  ? unknown
  : Described extends Parameter
    ? Described['isRepeatable'] extends true
      ? readonly Value<Described['value']>[]
      : Described['isRequired'] extends true
        ? Value<Described['value']>
        : Value<Described['value']> | undefined
    : boolean;

export type Values<Described> = {
  readonly [Key in keyof Described]: Described[Key] extends Option ? Given<Described[Key]> : never;
};

/**
 * The values of a call as the user entered them. A key of `options` is the name of an option. The list of an option
 * without a value is empty.
 */
export interface GivenValues {
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, readonly string[]>>;
}

/**
 * What a call receives from the process: streams, environment variables, the time and a signal. A test can provide
 * others.
 */
export interface Surroundings {
  readonly stdin: Readable & TerminalStream & { setRawMode?(isRaw: boolean): unknown };
  readonly stdout: Writable & TerminalStream;
  readonly stderr: Writable & TerminalStream;
  /**
   * The environment variables of the process, changed so that they select the database of `--data` or `--firestore`.
   */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now: Date;
  readonly signal: AbortSignal;
}

export interface CommandCall<Arguments = readonly Parameter[], Own = Options> extends Surroundings {
  readonly arguments: Values<Arguments>;
  readonly options: Values<Own>;
}

export interface OpenInstance {
  readonly store: Store;
  readonly location: StoreLocation;
  /** The name of the instance's directory or database. It is shown for an instance that has no name of its own. */
  readonly defaultName: string;
  print(output: Output): Promise<unknown>;
}

interface Printed {
  /**
   * Returns how the command ended. Called after the output was printed. Without this function, the command ended with
   * `done`.
   */
  readonly exitStatus?: () => ExitStatus;
  /** Work to do after the output was printed. */
  readonly afterwards?: () => Promise<void>;
}

/** The output of a command. With `--json`, the command prints the field `json`, otherwise the field `text`. */
export interface Output extends Printed {
  readonly json: unknown;
  /** The text in lines. The stream determines how the command wraps and colours the lines. */
  readonly text: Line | readonly Line[];
  /**
   * The stream for the output. If absent, standard output. A command chooses standard error if standard output receives
   * other data, such as an export.
   */
  readonly stream?: 'stdout' | 'stderr';
}

/** A row of a list: `json` for the output with `--json`, `cells` for a table. */
export interface Row {
  readonly json: unknown;
  readonly cells: readonly string[];
}

/**
 * A list whose rows are printed while they are read. With `--json`, the list is printed as the field `name` of an
 * object, otherwise as a table.
 */
export interface ListOutput extends Printed {
  readonly name: string;
  readonly heads: readonly string[];
  readonly rows: AsyncIterable<Row>;
  /**
   * True if the list ends only when a signal stops the command, as with `audit --follow`. Each row is then printed on
   * its own line, with and without `--json`.
   */
  readonly isEndless?: boolean;
}

/** @param columns for each column, its head and a function that returns the cell of an element */
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

interface CommandDescription<Arguments, Own> {
  /** The words that select the command, such as `pat create`. */
  readonly name: string;
  /** What the command does, in a few words: the overview of all commands shows it on one line. */
  readonly summary: string;
  /** Sentences that only the command's own help contains. */
  readonly details?: string;
  readonly arguments: Arguments;
  readonly options: Own;
  /** Examples of calls, without the word `identity`. */
  readonly examples: readonly [string, ...string[]];
}

/**
 * A command on an instance, which `--data` or `--firestore` selects. `parseValues` ensures that a call contains all
 * values that the command describes. The functions of this type are declared as methods, because the compiler then
 * permits commands with different options in one list.
 */
export interface InstanceCommand<Arguments = readonly Parameter[], Own = Options>
  extends CommandDescription<Arguments, Own> {
  readonly instance: 'existing' | 'created';
  /** True if the audit trail records each call, because the command changes something or copies secrets. */
  readonly isAudited?: true;
  /** Checks a call before the database is opened. A command that creates an instance can create its database here. */
  prepare?(call: CommandCall<Arguments, Own>, location: StoreLocation): Promise<void>;
  /**
   * Returns the function that handles a call about a place, such as a server. Returns undefined for a call about the
   * instance itself.
   */
  elsewhere?(call: CommandCall<Arguments, Own>): (() => Promise<Output>) | undefined;
  /**
   * Runs the command. Import the command's modules in this function, not at the top of the file: every call of
   * `identity` loads the definitions of all commands.
   */
  run(call: CommandCall<Arguments, Own> & OpenInstance): CommandResult;
}

export interface StandaloneCommand<Arguments = readonly Parameter[], Own = Options>
  extends CommandDescription<Arguments, Own> {
  readonly instance: 'none';
  run(call: CommandCall<Arguments, Own>): CommandResult;
}

export type Command = InstanceCommand | StandaloneCommand;

/**
 * Defines a command on an instance. Unless `command.instance` is `created`, the instance must already exist.
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

export function defineCommand<const Arguments extends readonly Parameter[], const Own extends Options>(
  command: Omit<StandaloneCommand<Arguments, Own>, 'instance'>,
): StandaloneCommand<Arguments, Own> {
  return { ...command, instance: 'none' };
}

export function usageError(problem: string): IdentityError {
  return usageInvalid({ problem });
}

export function isUsageError(error: unknown): error is IdentityError {
  return usageInvalid.is(error) || configurationInvalid.is(error);
}

export const exitCodes = {
  done: { code: 0, meaning: 'done, or equal' },
  failed: { code: 1, meaning: 'failed: standard error contains the reason' },
  unconfirmed: {
    code: 2,
    meaning:
      'not confirmed: there is no terminal and no --yes; or the source, the target or the plan has changed since the dry run whose digest --expect contains',
  },
  listed: { code: 3, meaning: 'finished, with differences or errors listed' },
  usage: { code: 64, meaning: 'usage: an argument, option or environment variable is wrong' },
  hungUp: { code: 129, meaning: 'interrupted because the terminal closed: repeat the command' },
  interrupted: { code: 130, meaning: 'interrupted: repeat the command' },
} as const;

export type ExitStatus = keyof typeof exitCodes;

export const NOTHING_CHANGED = 'interrupted: nothing was changed; repeat the command';

/**
 * Does work that stops when a signal aborts.
 * @param message advises how to continue after an interruption; a function is called when the interruption happens
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
