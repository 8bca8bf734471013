import { HOUR_MS, SECOND_MS } from './clock.ts';
import { withoutEmpty } from './defined.ts';
import { jsonLimits } from './json/bytes.ts';
import { type LimitDefinition, type Platform, UNLIMITED, units } from './limitDefinition.ts';

/** The limits that are the same on every platform and that no variable changes. */
export const fixedLimits = {
  fields: 100_000,
  // A real export file compresses to about a tenth of its size. A file that an attacker made to exhaust memory
  // compresses to about a thousandth. The limit lies between these ratios.
  inflation: 100,
  whiteSpaceBytes: 64_000_000,
  ...jsonLimits,
  // This limit applies to texts that ZITADEL keeps in an index. PostgreSQL permits 2,704 bytes in an index entry, which
  // also contains ids.
  indexedBytes: 2_600,
  // This limit applies to other texts, unless ZITADEL permits more in a field; see `byteLimit`.
  textBytes: 64_000,
  listElements: 5_000,
  headerBytes: 16_384,
  streamsPerConnection: 100,
  pipelinedRequests: 10,
  stallMs: 60_000,
} as const;

export const TOO_MUCH_WHITE_SPACE = `more than ${fixedLimits.whiteSpaceBytes} bytes of white space`;

function fixed(name: keyof typeof fixedLimits, unit: LimitDefinition['unit'], text: string): LimitDefinition {
  return { unit, selfHosted: fixedLimits[name], cloud: fixedLimits[name], text };
}

/**
 * All limits. The code reads the limits from this table. `docs/configuration.md` and several error texts are generated
 * from it.
 */
const limitTable = {
  // In the cloud, the limits on requests, responses and durations are those of Cloud Run.
  requestBytes: {
    variable: 'MAX_REQUEST_BYTES',
    unit: 'bytes',
    selfHosted: 1_000_000_000,
    cloud: 32_000_000,
    text: 'bytes of a request body, received and decompressed',
  },
  responseBytes: {
    variable: 'MAX_RESPONSE_BYTES',
    unit: 'bytes',
    selfHosted: UNLIMITED,
    cloud: 32_000_000,
    text: 'bytes of a response',
  },
  timeoutMs: {
    variable: 'MAX_TIMEOUT',
    unit: 'duration',
    selfHosted: HOUR_MS,
    cloud: HOUR_MS,
    text: 'duration of a request: the default and the maximum of `timeout`',
  },
  bufferedBytes: {
    unit: 'bytes',
    selfHosted: 2_000_000_000,
    cloud: UNLIMITED,
    text: 'bytes of the bodies and objects of all running imports and exports; temporary files can use half of the free space',
  },
  // Each organisation needs about 2 KB of memory.
  organisations: {
    variable: 'MAX_ORGANISATIONS',
    unit: 'count',
    selfHosted: 100_000,
    cloud: 100_000,
    text: 'organisations of a file',
  },
  clearPasswords: {
    variable: 'MAX_CLEAR_PASSWORDS',
    unit: 'count',
    selfHosted: 5_000,
    cloud: 1_000,
    text: 'clear passwords of an import',
  },
  // Each record needs 450 bytes in a temporary file. Cloud Run keeps such a file in memory.
  dryRunRecords: { unit: 'count', selfHosted: UNLIMITED, cloud: 200_000, text: 'records of a dry run' },
  fields: fixed('fields', 'count', 'fields of a request, a file, an organisation of the file, and an unknown object'),
  inflation: fixed(
    'inflation',
    'count',
    'ratio of the decompressed to the received size of a body with Content-Encoding, if the decompressed size is above 10 MB',
  ),
  whiteSpaceBytes: fixed('whiteSpaceBytes', 'bytes', 'consecutive bytes of white space in a body'),
  nesting: fixed('nesting', 'count', 'levels of nesting of a value'),
  indexedBytes: fixed(
    'indexedBytes',
    'bytes',
    'bytes of an id, name, domain or key in a file: texts that ZITADEL keeps in an index',
  ),
  textBytes: fixed(
    'textBytes',
    'bytes',
    'bytes of any other text in a file; in scripts, texts of messages and metadata, four bytes for each character that ZITADEL permits',
  ),
  listElements: fixed('listElements', 'count', 'elements of a list in a record, such as the roles of a grant'),
  // A self-hosted process needs a limit, because it serves other requests at the same time. In the cloud, each export
  // and each import runs in a process of its own.
  concurrentTransfers: {
    variable: 'MAX_CONCURRENT_TRANSFERS',
    unit: 'count',
    selfHosted: 2,
    cloud: UNLIMITED,
    text: 'imports at once, including dry runs, and also exports at once; calls that still receive their bodies, or wait for the lock of the instance, do not count',
  },
  headersMs: {
    unit: 'duration',
    selfHosted: 10 * SECOND_MS,
    cloud: 60 * SECOND_MS,
    text: 'time for the headers of a request',
  },
  headerBytes: fixed('headerBytes', 'bytes', 'bytes of the path and of the headers of a request'),
  // This timeout must be longer than the corresponding timeout of the proxy in front of the service. Google's load
  // balancers reuse a connection for up to 600 s.
  keepAliveMs: {
    unit: 'duration',
    selfHosted: 620 * SECOND_MS,
    cloud: 620 * SECOND_MS,
    text: 'time for which an idle connection stays open',
  },
  connections: {
    variable: 'MAX_CONNECTIONS',
    unit: 'count',
    selfHosted: 1_000,
    cloud: UNLIMITED,
    text: 'open connections, and requests at once; at most two thirds of the system’s limit of open files; a tenth of the connections can use HTTP/2',
  },
  streamsPerConnection: fixed(
    'streamsPerConnection',
    'count',
    'unanswered requests of an HTTP/2 connection, and streams that its client resets in quick succession',
  ),
  pipelinedRequests: fixed('pipelinedRequests', 'count', 'unanswered requests of an HTTP/1 connection'),
  stallMs: fixed('stallMs', 'duration', 'time for which a client may leave a response unread'),
} as const satisfies Record<string, LimitDefinition>;

export const limitedQuantities = {
  organisations: limitTable.organisations.text,
  clearPasswords: limitTable.clearPasswords.text,
  dryRunRecords: limitTable.dryRunRecords.text,
};

export const limitDefinitions: readonly LimitDefinition[] = Object.values(limitTable);

/**
 * The values of all limits, without those in `fixedLimits`. A value is a number of bytes, a count or a number of
 * milliseconds; Infinity means no limit.
 */
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

export const noLimits: Limits = mapLimits(() => UNLIMITED);

export function defaultLimits(platform: Platform): Limits {
  return mapLimits((definition) => definition[platform]);
}

/** @param problems receives a line for each invalid variable */
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

export function printLimit({ unit }: Pick<LimitDefinition, 'unit'>, value: number): string {
  return value === UNLIMITED ? 'unlimited' : units[unit].print(value);
}

/**
 * The limits that an instance publishes, so that clients can respect them. If a limit is absent, the instance does not
 * have this limit.
 */
export interface StatedLimits {
  readonly requestBytes?: number;
  readonly responseBytes?: number;
  /** True if clients can transfer files that exceed these limits through a bucket of the instance. */
  readonly transfers?: true;
  /** The longest timeout, in Go's syntax. */
  readonly timeout?: string;
}

/** @param hasTransfers whether the instance has a bucket for transfers */
export function stateLimits(
  { requestBytes, responseBytes, timeoutMs }: Pick<Limits, 'requestBytes' | 'responseBytes' | 'timeoutMs'>,
  hasTransfers = false,
): StatedLimits {
  return {
    ...(requestBytes === UNLIMITED ? {} : { requestBytes }),
    ...(responseBytes === UNLIMITED ? {} : { responseBytes }),
    ...withoutEmpty({ transfers: hasTransfers }),
    timeout: units.duration.print(timeoutMs),
  };
}
