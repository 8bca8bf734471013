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
    selfHosted: HOUR,
    cloud: HOUR,
    reason: 'Cloud Run ends longer requests',
    above: '504; 400 for a longer `timeout`',
  },
} as const satisfies Record<string, LimitDefinition>;

/** The definitions of all limits. */
export const limitDefinitions: readonly LimitDefinition[] = Object.values(limitTable);

/** The environment variables that set limits. */
export const limitVariables: readonly string[] = limitDefinitions.flatMap(({ variable }) => variable ?? []);

type LimitName = keyof typeof limitTable;

/** The value of each limit: bytes, numbers, milliseconds; infinite where there is none. */
export type Limits = Readonly<Record<LimitName, number>>;

function mapLimits(value: (definition: LimitDefinition) => number): Limits {
  return {
    requestBytes: value(limitTable.requestBytes),
    responseBytes: value(limitTable.responseBytes),
    timeoutMs: value(limitTable.timeoutMs),
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
