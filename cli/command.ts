import { basename, resolve } from 'node:path';
import type { ParseArgsConfig } from 'node:util';
import type { StoreLocation } from '../shared/store/openStore.ts';
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
  if (value === undefined || value === '') throw new UsageError(`missing option --${option}`);
  return value;
}

/** The n-th argument that is no option. */
export function argument({ positionals }: Invocation, index: number): string {
  return positionals[index] ?? '';
}

/** Where an instance's database is, and the name that the instance gets where none is given. */
export interface InstanceLocation {
  readonly store: StoreLocation;
  readonly defaultName: string;
  /** The environment variables that say the same. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Reads `--data DIR` or `--firestore PROJECT[/DATABASE]`, of which exactly one is to be given. */
export function instanceLocation(data: string | undefined, firestore: string | undefined): InstanceLocation {
  if ((data === undefined) === (firestore === undefined)) {
    throw new UsageError('specify either --data DIR (self-hosted) or --firestore PROJECT[/DATABASE]');
  }
  if (data !== undefined) return embedded(data);
  const [, projectId, databaseId = '(default)'] = /^([^/]+)(?:\/([^/]+))?$/.exec(firestore ?? '') ?? [];
  if (projectId === undefined)
    throw new UsageError(`invalid --firestore ${firestore}: specify PROJECT or PROJECT/DATABASE`);
  const defaultName = databaseId === '(default)' ? projectId : databaseId;
  const environment = { DATA_DIR: undefined, FIRESTORE_PROJECT: projectId, FIRESTORE_DATABASE: databaseId };
  return { store: { kind: 'firestore', projectId, databaseId }, defaultName, environment };
}

function embedded(data: string): InstanceLocation {
  if (data === '') throw new UsageError('empty --data: specify a directory');
  const directory = resolve(data);
  const environment = { DATA_DIR: directory, FIRESTORE_PROJECT: undefined, FIRESTORE_DATABASE: undefined };
  return { store: { kind: 'sqlite', directory }, defaultName: basename(directory), environment };
}

const DAY_MS = 86_400_000;
const MAX_DAYS = 3_660;
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: DAY_MS };

/** The lifetime of a token: `30d`, `12h` or `45m`, 30 days where none is given. Returns milliseconds. */
export function lifetime(text: string | undefined): number {
  const [, amount = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text ?? '30d') ?? [];
  const milliseconds = Number(amount) * (UNITS[unit] ?? 0);
  if (milliseconds > 0 && milliseconds <= MAX_DAYS * DAY_MS) return milliseconds;
  throw new UsageError(`invalid --expires ${text}: specify a lifetime such as 30d, 12h or 45m, at most ${MAX_DAYS}d`);
}
