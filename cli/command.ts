import { basename, resolve } from 'node:path';
import type { ParseArgsConfig } from 'node:util';
import { type Config, ConfigError, readConfig } from '../shared/config.ts';
import type { StoreLocation } from '../shared/store/openStore.ts';
import type { Store } from '../shared/store/store.ts';

/** A command's own options, in the form of `parseArgs`. */
type Options = NonNullable<ParseArgsConfig['options']>;

/** The input of a command. */
export interface Invocation {
  readonly store: Store;
  readonly location: StoreLocation;
  /** The instance's default name: that of its directory or database. */
  readonly defaultName: string;
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

/** A command's output: JSON with `--json`, otherwise text. */
export interface Output {
  readonly json: unknown;
  readonly text: string;
}

/** A list as a command's output, printed while it is read: with `--json` as the field `name` of an object. */
export interface ListOutput {
  readonly name: string;
  readonly rows: AsyncIterable<Output>;
}

/** The implementation of a command. */
export type Run = (invocation: Invocation) => Promise<Output | undefined>;

/** The implementation of a command that prints a list. */
export type RunList = (invocation: Invocation) => ListOutput;

/** A step before the database is opened. */
export type Prepare = (
  location: StoreLocation,
  positionals: readonly string[],
  options: Invocation['options'],
) => Promise<void>;

/** A command of `identity`. */
export interface Command {
  /** The words that select the command, such as `pat create`. */
  readonly name: string;
  /** The arguments after the name, for the help. */
  readonly usage: string;
  readonly summary: string;
  /** Whether the command changes something, or copies secrets: then each call is put on record in the audit trail. */
  readonly isAudited: boolean;
  readonly options: Options;
  /** The number of arguments that are not options. */
  readonly positionals: number;
  /** Whether these arguments may be omitted, because options replace them. */
  readonly positionalsOptional?: true;
  /** Whether the command creates a missing database; other commands require one. */
  readonly createsDatabase?: true;
  /** Loads the step that creates the database by other means than opening it. */
  readonly loadPreparation?: () => Promise<Prepare>;
  /** Loads the implementation, so that no command waits for another command's modules. */
  readonly load: () => Promise<Run | RunList>;
}

/** A mistake in the call of a command: printed without a stack, exit code 1. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Returns the value of a required option.
 * @throws UsageError if it is missing or empty
 */
export function required(invocation: Invocation, option: string): string {
  const value = invocation.options[option];
  if (value === undefined || value === '') throw new UsageError(`missing option --${option}`);
  return value;
}

/** Returns an argument that is not an option, by its index. */
export function argument({ positionals }: Invocation, index: number): string {
  return positionals[index] ?? '';
}

/** The location of an instance's database, and the instance's default name. */
export interface InstanceLocation {
  readonly store: StoreLocation;
  readonly defaultName: string;
  /** The environment variables for the same location. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the mutually exclusive options `--data DIR` and `--firestore PROJECT[/DATABASE]`.
 * @param masterKey the text of `IDENTITY_MASTER_KEY`
 * @throws UsageError unless exactly one is set, to a valid value
 */
export function instanceLocation(
  data: string | undefined,
  firestore: string | undefined,
  masterKey: string | undefined,
): InstanceLocation {
  if ((data === undefined) === (firestore === undefined)) {
    throw new UsageError('specify either --data DIR (self-hosted) or --firestore PROJECT[/DATABASE]');
  }
  if (data !== undefined) return embedded(data, masterKey);
  const [, projectId, databaseId = '(default)'] = /^([^/]+)(?:\/([^/]+))?$/.exec(firestore ?? '') ?? [];
  if (projectId === undefined)
    throw new UsageError(`invalid --firestore ${firestore}: specify PROJECT or PROJECT/DATABASE`);
  const defaultName = databaseId === '(default)' ? projectId : databaseId;
  const environment = { DATA_DIR: undefined, FIRESTORE_PROJECT: projectId, FIRESTORE_DATABASE: databaseId };
  return { store: { kind: 'firestore', projectId, databaseId, masterKey }, defaultName, environment };
}

function embedded(data: string, masterKey: string | undefined): InstanceLocation {
  if (data === '') throw new UsageError('empty --data: specify a directory');
  const directory = resolve(data);
  const environment = { DATA_DIR: directory, FIRESTORE_PROJECT: undefined, FIRESTORE_DATABASE: undefined };
  return { store: { kind: 'sqlite', directory, masterKey }, defaultName: basename(directory), environment };
}

const DAY_MS = 86_400_000;
/**
 * Reads the configuration.
 * @throws UsageError that lists every problem
 */
export function loadConfig({ environment }: Invocation): Config {
  try {
    return readConfig(environment);
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: DAY_MS };

/** Parses a span of time, such as `30d`, `12h` or `45m`. Returns milliseconds; undefined for any other text. */
export function parseSpan(text: string): number | undefined {
  const [, amount = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const unitMs = UNITS[unit];
  return unitMs === undefined ? undefined : Number(amount) * unitMs;
}

/**
 * Parses a token's lifetime, such as `30d`, `12h` or `45m`. Returns milliseconds; the default is 30 days, or the longest
 * lifetime that the configuration allows.
 * @throws UsageError
 */
export function lifetime(invocation: Invocation): number {
  const { options } = invocation;
  const { maxTokenLifetimeMs } = loadConfig(invocation);
  if (options.expires === undefined) return Math.min(30 * DAY_MS, maxTokenLifetimeMs);
  const milliseconds = parseSpan(options.expires) ?? 0;
  if (milliseconds > 0 && milliseconds <= maxTokenLifetimeMs) return milliseconds;
  const longest = maxTokenLifetimeMs / DAY_MS;
  throw new UsageError(
    `invalid --expires ${options.expires}: specify a lifetime such as 30d, 12h or 45m, at most ${longest}d (MAX_TOKEN_DAYS)`,
  );
}
