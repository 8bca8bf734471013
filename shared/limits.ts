// The limits of requests and connections, their defaults and their variables.

import { HOUR_MS, SECOND_MS } from './clock.ts';
import { jsonLimits } from './json/bytes.ts';
import { both, type LimitDefinition, type Platform, UNLIMITED, units } from './limitDefinition.ts';

/** The limits that no variable sets. */
export const fixedLimits = {
  fields: 100_000,
  inflation: 100,
  whiteSpaceBytes: 64_000_000,
  ...jsonLimits,
  indexedBytes: 2_600,
  textBytes: 64_000,
  listElements: 5_000,
  headerBytes: 16_384,
  streamsPerConnection: 100,
  pipelinedRequests: 10,
  stallMs: 60_000,
} as const;

/** The problem of a file with more white space than the limit. */
export const TOO_MUCH_WHITE_SPACE = `more than ${fixedLimits.whiteSpaceBytes} bytes of white space`;

/** Every limit on requests. Code reads it from here, and `docs/configuration.md` is made from it. */
const limitTable = {
  requestBytes: {
    variable: 'MAX_REQUEST_BYTES',
    unit: 'bytes',
    limits: 'the body of a request, received and decompressed',
    selfHosted: 1_000_000_000,
    cloud: 32_000_000,
    reason: 'the limit of Cloud Run; self-hosted, the temporary file',
    above: '413',
  },
  bufferedBytes: {
    unit: 'bytes',
    limits:
      'the bodies of all imports and exports together, with objects that imports keep; in temporary files, also half of the free space',
    selfHosted: 2_000_000_000,
    cloud: UNLIMITED,
    reason: 'the database needs space too',
    above: '429 and `retry-after`',
  },
  responseBytes: {
    variable: 'MAX_RESPONSE_BYTES',
    unit: 'bytes',
    limits: 'a response',
    selfHosted: UNLIMITED,
    cloud: 32_000_000,
    reason: 'Cloud Run cuts larger ones',
    above: 'an export is 303 if the instance has a bucket for transfers, else 400',
  },
  timeoutMs: {
    variable: 'MAX_TIMEOUT',
    unit: 'duration',
    limits: 'the time of a request: its default, and the longest `timeout`',
    ...both(HOUR_MS),
    reason: 'Cloud Run ends longer requests',
    above: '504; 400 for a longer `timeout`',
  },
  organisations: {
    variable: 'MAX_ORGANISATIONS',
    unit: 'count',
    limits: 'the entries of `orgs` in an imported file',
    ...both(100_000),
    reason: 'each takes about 2 KB of memory; a command takes as many as its heap can hold',
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
    unit: 'count',
    limits: 'the records of a dry run',
    selfHosted: UNLIMITED,
    cloud: 200_000,
    reason: 'each takes 450 bytes of a temporary file, which is memory in Cloud Run',
    above: '413',
  },
  fields: {
    unit: 'count',
    limits: 'the fields of a request, of a file, of an organisation in it, and of an unknown object',
    ...both(fixedLimits.fields),
    reason: 'reading unknown fields takes time; an organisation has less than 100 fields',
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
    reason: 'no JSON writer produces that much',
    above: '400',
  },
  nesting: {
    unit: 'count',
    limits: 'the nesting of a value in a body, known or not',
    ...both(fixedLimits.nesting),
    reason: 'each level takes a part of the stack; a record has less than 20',
    above: '400',
  },
  indexedBytes: {
    unit: 'bytes',
    limits: 'a text of a file that ZITADEL keeps in an index: ids, names, domains and keys',
    ...both(fixedLimits.indexedBytes),
    reason: "PostgreSQL's limit of 2,704 bytes for an entry of an index, ids included",
    above: 'the record is in `errors`',
  },
  textBytes: {
    unit: 'bytes',
    limits:
      'any other text of a file, such as a URI, a hash or a TOTP seed; bytes count as their base64. Scripts, texts of messages and metadata may have four bytes for each character that ZITADEL permits',
    ...both(fixedLimits.textBytes),
    reason: "ZITADEL's longest text with a limit has 40,000",
    above: 'the record is in `errors`',
  },
  listElements: {
    unit: 'count',
    limits: 'the elements of a list in a record of a file, such as the roles of a grant',
    ...both(fixedLimits.listElements),
    reason: 'each element is looked up, and other requests wait meanwhile',
    above: 'the record is in `errors`',
  },
  concurrentTransfers: {
    variable: 'MAX_CONCURRENT_TRANSFERS',
    unit: 'count',
    limits:
      'the imports at once, dry runs included, and the exports at once; each from the end of its body to the last byte of its response',
    selfHosted: 2,
    cloud: UNLIMITED,
    reason: 'removals share the process; in the cloud each import and export has its own',
    above: '429 and `retry-after`',
  },
  headersMs: {
    unit: 'duration',
    limits: 'the time for the headers of a request',
    selfHosted: 10 * SECOND_MS,
    cloud: 60 * SECOND_MS,
    reason: 'a connection costs memory and a descriptor; in the cloud only the platform connects',
    above: '408',
  },
  headerBytes: {
    unit: 'bytes',
    limits: "the names and values of a request's headers, and its path",
    ...both(fixedLimits.headerBytes),
    reason: "Node's own limit; they are read before the token",
    above: '431',
  },
  keepAliveMs: {
    unit: 'duration',
    limits: 'the time for which a connection without a request stays open',
    ...both(620 * SECOND_MS),
    reason: "longer than that of the proxy in front; Google's load balancers reuse connections for 600 s",
    above: 'the connection is closed',
  },
  connections: {
    variable: 'MAX_CONNECTIONS',
    unit: 'count',
    limits:
      'the open connections, at most two thirds of the open files that the system allows, a tenth of them over HTTP/2; and the requests that are handled at once',
    selfHosted: 1_000,
    cloud: UNLIMITED,
    reason: 'databases and bodies need files too; an HTTP/2 connection can have many requests',
    above: 'a new connection is closed; a request is 503 with `retry-after`',
  },
  streamsPerConnection: {
    unit: 'count',
    limits: 'the unanswered requests of one HTTP/2 connection, and its resets',
    ...both(fixedLimits.streamsPerConnection),
    reason: 'each costs memory',
    above: 'the stream is refused; after as many resets, the connection is closed',
  },
  pipelinedRequests: {
    unit: 'count',
    limits: 'the unanswered requests of one HTTP/1 connection',
    ...both(fixedLimits.pipelinedRequests),
    reason: 'each costs memory; few clients pipeline requests',
    above: 'the connection is closed',
  },
  stallMs: {
    unit: 'duration',
    limits: 'the time for which a client reads nothing of a response',
    ...both(fixedLimits.stallMs),
    reason: 'a client that does not read keeps its connection open, and an export its snapshot',
    above: 'the connection is closed; over HTTP/2, the stream is reset',
  },
} as const satisfies Record<string, LimitDefinition>;

/** The definitions of all limits. */
export const limitDefinitions: readonly LimitDefinition[] = Object.values(limitTable);

/** The value of each configurable limit: bytes, numbers or milliseconds; infinite without a limit. */
export type Limits = Readonly<Record<Exclude<keyof typeof limitTable, keyof typeof fixedLimits>, number>>;

function mapLimits(value: (definition: LimitDefinition) => number): Limits {
  return {
    requestBytes: value(limitTable.requestBytes),
    bufferedBytes: value(limitTable.bufferedBytes),
    responseBytes: value(limitTable.responseBytes),
    timeoutMs: value(limitTable.timeoutMs),
    organisations: value(limitTable.organisations),
    clearPasswords: value(limitTable.clearPasswords),
    dryRunRecords: value(limitTable.dryRunRecords),
    concurrentTransfers: value(limitTable.concurrentTransfers),
    headersMs: value(limitTable.headersMs),
    keepAliveMs: value(limitTable.keepAliveMs),
    connections: value(limitTable.connections),
  };
}

/** No limits: those of calls by the operator of a database. */
export const noLimits: Limits = mapLimits(() => UNLIMITED);

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

/** The limits that clients adapt to, as an instance states them; those without a value do not apply. */
export interface StatedLimits {
  readonly requestBytes?: number;
  readonly responseBytes?: number;
  /** Present if larger files pass through a bucket of the instance. */
  readonly transfers?: true;
  /** The longest timeout, in Go's syntax. */
  readonly timeout?: string;
}

/**
 * Returns the limits that clients adapt to.
 * @param hasTransfers whether the instance has a bucket for transfers
 */
export function stateLimits(
  { requestBytes, responseBytes, timeoutMs }: Pick<Limits, 'requestBytes' | 'responseBytes' | 'timeoutMs'>,
  hasTransfers = false,
): StatedLimits {
  return {
    ...(requestBytes === UNLIMITED ? {} : { requestBytes }),
    ...(responseBytes === UNLIMITED ? {} : { responseBytes }),
    ...(hasTransfers ? { transfers: true } : {}),
    timeout: units.duration.print(timeoutMs),
  };
}
