import type { AbusedServer } from '../support/abusedServer.ts';

/** What a request takes of the process, at most or as measured. */
export interface Cost {
  /** The processor's time of all threads, as a multiple of that of a removal in the same run: machines differ. */
  readonly removals: number;
  /** By which the resident set grows while the request runs. */
  readonly memoryBytes: number;
  /** What is written to files, temporary ones too. */
  readonly diskBytes: number;
}

/** What a request has taken. */
export interface MeasuredCost extends Cost {
  readonly processorMs: number;
}

/** The dearest request of one kind of caller, or one of them. */
export interface CostRow {
  readonly caller: 'no token' | 'person' | 'restricted token' | 'owner';
  readonly request: string;
  /** The limits of `docs/configuration.md` in which the request has a place, and until when. */
  readonly places: string;
  /** How often it is sent, one after the other: the cost is that of one. */
  readonly times: number;
  /** The bound of the test, some times of what was measured. */
  readonly most: Cost;
  /** Prepares an instance, and returns what sends one request and checks its response. */
  prepare(server: AbusedServer): Promise<(index: number) => Promise<void>>;
}
