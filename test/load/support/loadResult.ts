import type { Flatness } from './flatness.ts';
import type { KindResult } from './ledger.ts';
import type { TimedSample } from './resources.ts';

/** The heap that a function has in the cloud. */
export const HEAP_MEGABYTES = 512;

/** The server's bounds of imports and exports at once. */
export const ADMITTED = { imports: 2, exports: 4 } as const;
const MEGABYTE = 1_000_000;
/** By how much more the last third of a run may have than the middle one. */
export const tolerances = {
  rss: { share: 0.1, amount: 16 * MEGABYTE },
  descriptors: { share: 0.1, amount: 16 },
} as const;
/** At most one request of so many meets the end of an idle connection: more would be a server that cuts connections. */
export const REQUESTS_PER_RESENT = 10_000;

/** What a run has shown that can fail it. */
export interface ObservedLoad {
  readonly kinds: readonly KindResult[];
  readonly rss: Flatness;
  readonly descriptors: Flatness;
  /** The descriptors before the traffic, and when all connections are closed. */
  readonly descriptorsAround: readonly [before: number, after: number];
  /** How many requests met the end of an idle connection, and were sent again. */
  readonly resent: number;
  /** What the server still had when the client had closed its connections. */
  readonly left: { readonly connections: number; readonly requests: number };
  readonly exitCode: number | null;
  /** The log's lines that nobody asked for. */
  readonly unaskedLines: readonly string[];
}

/** What a run has shown. */
export interface LoadResult extends ObservedLoad {
  readonly store: string;
  readonly seconds: number;
  readonly samples: readonly TimedSample[];
  /** The delay of the client's own event loop, in milliseconds. */
  readonly clientDelay: { readonly p99: number; readonly max: number };
  readonly problems: readonly string[];
}
