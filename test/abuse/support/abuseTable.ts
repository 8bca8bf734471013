import type { TestContext } from 'vitest';
import { repetitions } from '../../support/repetitions.ts';

/** How large the abuses are, which `npm run test:all` tries in a smaller size. */
export const sizes = repetitions({
  few: { exports: 2, imports: 0, whiteSpaceMegabytes: 200, dryRunRecords: 20_000, streamRounds: 3, attackMs: 6_000 },
  many: {
    exports: 4,
    imports: 2,
    whiteSpaceMegabytes: 900,
    dryRunRecords: 200_000,
    streamRounds: 30,
    attackMs: 15_000,
  },
});

/** The database of the abused process. */
type Place = 'SQLite' | 'Firestore';

/** A request, or many, with which a caller could try to take the service down. */
interface AbuseRow {
  readonly abuse: string;
  readonly places: readonly Place[];
  readonly response: string;
}

const both = ['SQLite', 'Firestore'] as const;
const one = ['SQLite'] as const;

/**
 * Every abuse that is tried: the tests take their names from here, and `docs/reliability/abuse.md` has its rows from here
 * with the figures of a run.
 */
const abuseTable = {
  largeValues: {
    abuse: `495 \`userMetadata\` values of 480 KB: an import, then ${sizes.exports} exports and ${sizes.imports} imports from a bucket at once`,
    places: both,
    response: '200, complete',
  },
  entries: {
    abuse: '10,600,000 empty entries in `orgs`: 31 KB of gzip; the same uncompressed, inline and in a bucket',
    places: both,
    response: '413',
  },
  inflatedMessage: {
    abuse: '60 RPCs whose message of 31 KB of gzip inflates to 32 MB, over Connect, gRPC and gRPC-Web',
    places: one,
    response: '429 and RESOURCE_EXHAUSTED',
  },
  unknownKeys: {
    abuse: '7.5 MB of unknown keys in a request, a file, an organisation and a record, while others ask for `/health`',
    places: one,
    response: '400; `/health` is answered meanwhile',
  },
  whiteSpace: {
    abuse: `${sizes.whiteSpaceMegabytes} MB of white space: before, between and after values, in a string, and in a bucket`,
    places: one,
    response: '400 after 64 MB',
  },
  splicedFile: {
    abuse:
      'a file of 2.5 MB that ends early by one reading and adds `dry_run` to the request that holds it; and one with these fields: as the body, and put into a JSON request',
    places: one,
    response: '400, or the fields are unknown ones of the file; no option is set',
  },
  forgedKeys: {
    abuse: '200 exports at once with keys of 4,096 bits; keys of 1,024, 4,098 and 32,768 bits',
    places: one,
    response: '400 or 429; removals are answered meanwhile',
  },
  stalledExport: {
    abuse: 'an export with `timeout: "2s"` to a client that does not read, while others write',
    places: one,
    response: 'disconnected after 2 s; the write-ahead log stays within its limit',
  },
  heldBodies: {
    abuse: '100 requests without a token, and 100 RPCs with one, whose bodies never end, over HTTP/1.1 and HTTP/2',
    places: one,
    response: '401 and ended at once; 408 and DEADLINE_EXCEEDED after 10 s; others are answered meanwhile',
  },
  spooledBodies: {
    abuse:
      '40 imports with one token, 6 MB of gzip that become 480 MB, which then bring a byte a second, at `MAX_BUFFERED_BYTES` of 200 MB',
    places: one,
    response: '100 MB are kept, the rest is 429; imports and exports of others are answered',
  },
  pipelined: {
    abuse: '13,000 requests for `/openapi.json` from ten connections that read nothing',
    places: one,
    response: 'the connections are closed; others are answered meanwhile',
  },
  refusedBodies: {
    abuse: '20 requests of as many clients without a token, whose bodies never come, at `MAX_CONNECTIONS=20`',
    places: one,
    response: '401, ended at once, and closed after a second',
  },
  resetStreams: {
    abuse:
      '500 connections of one client, each with 990 requests over HTTP/2 that are reset at once: 13 MB, read together',
    places: one,
    response: 'the connections are closed, and no handler starts; others are answered',
  },
  pipelinedFlood: {
    abuse: '500 connections of one client, each with 2,000 requests over HTTP/1 at once: 28 MB, read together',
    places: one,
    response: 'the connections are closed, and no handler starts; others are answered',
  },
  unreadStreams: {
    abuse: `16 connections of one client, each with 100 streams for \`/openapi.json\` that take no content, reset and opened again ${sizes.streamRounds} times`,
    places: one,
    response:
      '500 streams are open, further ones are refused and their connections closed; `/healthz` and removals of other clients are answered',
  },
  idleConnections: {
    abuse: '700 connections of one client that send nothing, or half a request',
    places: one,
    response: '503 above 500; removals of other clients are answered',
  },
  clearPasswords: {
    abuse: '5,001 clear passwords; fewer, while others remove factors',
    places: one,
    response: '413; removals are answered meanwhile',
  },
  dryRun: {
    abuse: `dry runs of one person more than ${sizes.dryRunRecords.toLocaleString('en')}, the limit, and of as many`,
    places: one,
    response: '413; 200',
  },
} as const satisfies Record<string, AbuseRow>;

/** The name of an abuse. */
export type AbuseName = keyof typeof abuseTable;

/** An abuse of the table that a process has withstood. */
export interface Outcome {
  readonly name: AbuseName;
  readonly place: Place;
  /** The largest resident set of the process. */
  readonly peakBytes: number;
}

declare module 'vitest' {
  interface TaskMeta {
    /** What the test's process has withstood, for the report. */
    outcomes?: Outcome[];
  }
}

/** Notes for the report that a process has withstood an abuse. */
export function noteOutcome({ task }: Pick<TestContext, 'task'>, outcome: Outcome): void {
  task.meta.outcomes = [...(task.meta.outcomes ?? []), outcome];
}

const HEAD = ['request', 'on', 'response', 'peak of memory'];

/** Every line that the report has, in its order. */
const lines: readonly (readonly [AbuseName, Place])[] = Object.keys(abuseTable)
  .filter((name): name is AbuseName => name in abuseTable)
  .flatMap((name) => abuseTable[name].places.map((place) => [name, place] as const));

/** Returns the names of the table's lines that no outcome stands for. */
export function missingOutcomes(outcomes: readonly Outcome[]): string[] {
  return lines
    .filter(([name, place]) => peakIn(outcomes, name, place) === 0)
    .map(([name, place]) => `${abuseTable[name].abuse} (${place})`);
}

/** The report's table in Markdown. */
export function outcomeTable(outcomes: readonly Outcome[]): string {
  const rows = lines.map(([name, place]) => {
    const { abuse, response } = abuseTable[name];
    return [abuse, place, response, `${Math.round(peakIn(outcomes, name, place) / 2 ** 20)} MiB`];
  });
  return [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function peakIn(outcomes: readonly Outcome[], name: AbuseName, place: Place): number {
  return Math.max(0, ...outcomes.filter((one) => one.name === name && one.place === place).map((one) => one.peakBytes));
}
