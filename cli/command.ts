import type { ParseArgsConfig } from 'node:util';
import type { Store } from '../shared/store/store.ts';

/** The options of a command beside those that every command has; `parseArgs`' form. */
type Options = NonNullable<ParseArgsConfig['options']>;

/** What a command is called with. */
export interface Invocation {
  readonly store: Store;
  /** The instance's name where none is given: that of its directory or database. */
  readonly defaultName: string;
  /** The values of the command's own options, where given. */
  readonly options: Readonly<Record<string, string | undefined>>;
  /** The command's own options without a value, where given. */
  readonly flags: ReadonlySet<string>;
  readonly positionals: readonly string[];
  /** The environment, with the database that the command was told. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/** What a command prints: as JSON with `--json`, else as text. */
export interface Output {
  readonly json: unknown;
  readonly text: string;
}

/** What a command does. */
export type Run = (invocation: Invocation) => Promise<Output | undefined>;

/** One command of `identity`. */
export interface Command {
  /** Its words, such as `pat create`. */
  readonly name: string;
  /** What comes after its words, for the help. */
  readonly usage: string;
  readonly summary: string;
  readonly options: Options;
  /** How many arguments it takes that are not options. */
  readonly positionals: number;
  /** Whether it makes the instance's database where there is none; all others want one. */
  readonly makesDatabase?: true;
  /** Loads what it does, so that no command waits for the modules of another. */
  readonly load: () => Promise<Run>;
}

/** A fault of the command's user: printed without a stack, exit code 1. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The value of an option that must be given. */
export function required(invocation: Invocation, option: string): string {
  const value = invocation.options[option];
  if (value === undefined || value === '') throw new UsageError(`--${option} is missing`);
  return value;
}

/** The n-th argument that is no option. */
export function argument({ positionals }: Invocation, index: number): string {
  return positionals[index] ?? '';
}
