import type { Command as Program } from 'commander';
import type { StoreLocation } from '../shared/store/openStore.ts';
import type { Store } from '../shared/store/store.ts';
import type { Ending } from './exitCodes.ts';
import type { ValueName } from './values.ts';

/** An argument of a command that is not an option. */
interface Argument {
  readonly value: ValueName;
  readonly meaning: string;
  /** Whether it may be omitted, because options replace it. */
  readonly isOptional?: true;
  /** Whether it may be repeated; only the last argument may. */
  readonly isRepeatable?: true;
}

/** An option of a command. */
export interface Option {
  /** The name after the dashes. */
  readonly name: string;
  /** The kind of its value; options without it take none. */
  readonly value?: ValueName;
  readonly meaning: string;
  readonly isRequired?: true;
  readonly isRepeatable?: true;
}

/** The values of a call as they were given, by the names of the options; a flag that is set has no value. */
export interface GivenValues {
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, readonly string[]>>;
}

/** The arguments and the surroundings of a call. */
export interface Call {
  /** The values of the command's own options; `undefined` if the call omits one. */
  readonly options: Readonly<Record<string, string | undefined>>;
  /** The values of the command's own options that can be repeated. */
  readonly lists: Readonly<Record<string, readonly string[] | undefined>>;
  /** The command's own options that take no value and are set. */
  readonly flags: ReadonlySet<string>;
  readonly positionals: readonly string[];
  /** The process's environment, in which the command's options determine the database. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/** The input of a command on an instance. */
export interface Invocation extends Call {
  readonly store: Store;
  readonly location: StoreLocation;
  /** The instance's default name: that of its directory or database. */
  readonly defaultName: string;
}

interface Printed {
  /** Says how the command ended, once its output is printed; by default it is done. */
  readonly ending?: () => Ending;
}

/** A command's output: JSON with `--json`, otherwise text. */
export interface Output extends Printed {
  readonly json: unknown;
  readonly text: string;
}

/** A list as a command's output, printed while it is read: with `--json` as the field `name` of an object. */
export interface ListOutput extends Printed {
  readonly name: string;
  readonly rows: AsyncIterable<Output>;
}

/** The implementation of a command on an instance. */
export type Run = (invocation: Invocation) => Promise<Output | undefined>;

/** The implementation of a command on an instance that prints a list. */
export type RunList = (invocation: Invocation) => ListOutput;

/** The implementation of a command that opens no database; it can read commander's table of all commands. */
export type RunAlone = (call: Call, program: Program) => Promise<Output | undefined>;

/** A step before the database is opened. */
export type Prepare = (
  location: StoreLocation,
  positionals: readonly string[],
  options: Invocation['options'],
) => Promise<void>;

/** What the help, the documents and completion say of a command. */
interface Description {
  /** The words that select the command, such as `pat create`. */
  readonly name: string;
  readonly summary: string;
  readonly arguments: readonly Argument[];
  readonly options: readonly Option[];
  /** Calls without the word `identity`, each a whole one. */
  readonly examples: readonly [string, ...string[]];
}

/** A command on an instance, which `--data` or `--firestore` names. */
export interface InstanceCommand extends Description {
  /** Whether the instance exists before, or the command creates it. */
  readonly instance: 'existing' | 'created';
  /** Whether the command changes something, or copies secrets: then each call is put on record in the audit trail. */
  readonly isAudited: boolean;
  /** Loads the step that creates the database by other means than opening it. */
  readonly loadPreparation?: () => Promise<Prepare>;
  /** Loads the implementation, so that no command waits for another command's modules. */
  readonly load: () => Promise<Run | RunList>;
}

/** A command that opens no database. */
interface LoneCommand extends Description {
  readonly instance: 'none';
  readonly load: () => Promise<RunAlone>;
}

/** A command of `identity`. */
export type Command = InstanceCommand | LoneCommand;

/** A mistake in the call of a command. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An interruption by a signal. Its message says how to continue. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}

/**
 * Returns the value of a required option.
 * @throws UsageError if it is missing
 */
export function required({ options }: Call, option: string): string {
  const value = options[option];
  if (value === undefined) throw new UsageError(`missing option --${option}`);
  return value;
}

/** Returns an argument that is not an option, by its index. */
export function argument({ positionals }: Call, index: number): string {
  return positionals[index] ?? '';
}
