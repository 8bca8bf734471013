import { z } from 'zod';
import { parseGoDuration } from './duration.ts';

/** The platforms, whose defaults differ. */
export type Platform = 'selfHosted' | 'cloud';

/** A bound on what one request, or all of them together, can use. */
export interface LimitDefinition {
  /** The environment variable that sets it; without one, it is fixed. */
  readonly variable?: string;
  readonly unit: keyof typeof units;
  /** What it limits. */
  readonly limits: string;
  readonly selfHosted: number;
  readonly cloud: number;
  /** Why it is there, or has this value. */
  readonly reason: string;
  /** What happens above it. */
  readonly above: string;
}

const UNLIMITED = Number.POSITIVE_INFINITY;
const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const number = (what: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,14}$/, `must be ${what}`)
    .transform(Number);

/** How values are read from variables, and printed. */
const units = {
  bytes: { schema: number('a number of bytes, such as 32000000'), print: String },
  count: { schema: number('a positive whole number'), print: String },
  duration: {
    schema: z.string().transform((text, context) => {
      const milliseconds = parseGoDuration(text);
      if (milliseconds !== undefined && milliseconds <= DAY) return milliseconds;
      context.addIssue('must be a positive duration of at most 24h, such as 60m');
      return z.NEVER;
    }),
    print: (milliseconds: number) =>
      milliseconds < 60_000 ? `${milliseconds / SECOND}s` : `${milliseconds / 60_000}m`,
  },
} as const;

/** The limits that no variable sets. */
export const fixedLimits = {
  fields: 1_000,
  inflation: 100,
  whiteSpaceBytes: 64_000_000,
  bodyGraceMs: 10_000,
  bodyBytesPerSecond: 1_024,
  lingerMs: 30_000,
  strangerLingerMs: 2_000,
} as const;

function both(value: number): Readonly<Record<Platform, number>> {
  return { selfHosted: value, cloud: value };
}

/** Every limit on requests. Code reads it from here, and `docs/configuration.md` is made from it. */
const limitTable = {
  requestBytes: {
    variable: 'MAX_REQUEST_BYTES',
    unit: 'bytes',
    limits: 'the body of a request, as it is received and decompressed',
    selfHosted: 1_000_000_000,
    cloud: 32_000_000,
    reason: 'Cloud Run rejects larger ones; self-hosted, it is kept in a temporary file',
    above: '413',
  },
  responseBytes: {
    variable: 'MAX_RESPONSE_BYTES',
    unit: 'bytes',
    limits: 'a response',
    selfHosted: UNLIMITED,
    cloud: 32_000_000,
    reason: 'Cloud Run cuts larger ones',
    above: 'an export is 400, and names gcs_output',
  },
  timeoutMs: {
    variable: 'MAX_TIMEOUT',
    unit: 'duration',
    limits: 'the time of a request: its default, and the longest `timeout`',
    ...both(HOUR),
    reason: 'Cloud Run ends longer requests',
    above: '504; 400 for a longer `timeout`',
  },
  organisations: {
    variable: 'MAX_ORGANISATIONS',
    unit: 'count',
    limits: 'the entries of `orgs` in an imported file',
    ...both(100_000),
    reason: 'each is kept in memory, about 2 KB',
    above: '413, and nothing is written',
  },
  clearPasswords: {
    variable: 'MAX_CLEAR_PASSWORDS',
    unit: 'count',
    limits: 'the clear passwords of an import',
    selfHosted: 5_000,
    cloud: 1_000,
    reason: 'hashing one takes a quarter of a second of a core',
    above: '413, and nothing is written',
  },
  dryRunRecords: {
    variable: 'MAX_DRY_RUN_RECORDS',
    unit: 'count',
    limits: 'the records of a dry run',
    selfHosted: UNLIMITED,
    cloud: 200_000,
    reason: 'it keeps about 450 bytes of each in a temporary file, which is memory in Cloud Run',
    above: '413',
  },
  fields: {
    unit: 'count',
    limits: 'the fields of a request, of a file or of an organisation in it, known or not',
    ...both(fixedLimits.fields),
    reason:
      'they are skipped where the service does not know them, which takes time; an organisation has less than 100',
    above: '400',
  },
  inflation: {
    unit: 'count',
    limits: 'the size of a decompressed body as a multiple of the received one, beyond its first 10 MB',
    ...both(fixedLimits.inflation),
    reason: 'export files compress to a tenth, files made to exhaust memory to a thousandth',
    above: '413',
  },
  whiteSpaceBytes: {
    unit: 'bytes',
    limits: 'white space without interruption in a body',
    ...both(fixedLimits.whiteSpaceBytes),
    reason: 'nothing that writes JSON puts that much into it',
    above: '400',
  },
  headersMs: {
    unit: 'duration',
    limits: 'the time for the headers of a request, from the first byte or the start of the connection',
    selfHosted: 10 * SECOND,
    cloud: 60 * SECOND,
    reason: 'a connection without a request costs memory and a descriptor; in the cloud only the platform connects',
    above: '408',
  },
  bodyGraceMs: {
    unit: 'duration',
    limits: 'the time in which a body may arrive at any rate; only waiting for the client counts',
    ...both(fixedLimits.bodyGraceMs),
    reason: 'a network may pause',
    above: 'see the next row',
  },
  bodyBytesPerSecond: {
    unit: 'bytes',
    limits: 'the bytes per second of a body after that time, on average, at least',
    ...both(fixedLimits.bodyBytesPerSecond),
    reason: 'a body that never ends keeps its connection open',
    above: '408 below it',
  },
  lingerMs: {
    unit: 'duration',
    limits: 'the time for the rest of a body after the response, where the service began to read it',
    ...both(fixedLimits.lingerMs),
    reason: 'clients that send everything before they read would find the connection reset, and no response',
    above: 'the connection is closed',
  },
  strangerLingerMs: {
    unit: 'duration',
    limits: 'the same where the service did not read the body, as without a valid token',
    ...both(fixedLimits.strangerLingerMs),
    reason: 'meanwhile a function with one request at a time serves nobody else',
    above: 'the connection is closed',
  },
} as const satisfies Record<string, LimitDefinition>;

/** The definitions of all limits. */
export const limitDefinitions: readonly LimitDefinition[] = Object.values(limitTable);

/** The environment variables that set limits. */
export const limitVariables: readonly string[] = limitDefinitions.flatMap(({ variable }) => variable ?? []);

/** The value of each limit that can be set: bytes, numbers, milliseconds; infinite where there is none. */
export type Limits = Readonly<Record<Exclude<keyof typeof limitTable, keyof typeof fixedLimits>, number>>;

function mapLimits(value: (definition: LimitDefinition) => number): Limits {
  return {
    requestBytes: value(limitTable.requestBytes),
    responseBytes: value(limitTable.responseBytes),
    timeoutMs: value(limitTable.timeoutMs),
    organisations: value(limitTable.organisations),
    clearPasswords: value(limitTable.clearPasswords),
    dryRunRecords: value(limitTable.dryRunRecords),
    headersMs: value(limitTable.headersMs),
  };
}

/** Returns a platform's limits. */
export function defaultLimits(platform: Platform): Limits {
  return mapLimits((definition) => definition[platform]);
}

/**
 * Reads the limits that environment variables set, in place of a platform's.
 * @param problems takes a line for each invalid variable
 */
export function readLimits(
  env: Readonly<Record<string, string | undefined>>,
  platform: Platform,
  problems: string[],
): Limits {
  return mapLimits((definition) => {
    const { variable, unit } = definition;
    const text = variable === undefined ? undefined : env[variable];
    if (text === undefined) return definition[platform];
    const { data, error } = units[unit].schema.safeParse(text);
    for (const { message } of error?.issues ?? []) problems.push(`${variable} ${message}`);
    return data ?? definition[platform];
  });
}

/** Prints the value of a limit. */
export function printLimit({ unit }: Pick<LimitDefinition, 'unit'>, value: number): string {
  return value === UNLIMITED ? 'unlimited' : units[unit].print(value);
}
