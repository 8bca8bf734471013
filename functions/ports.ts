import type { ObjectStorage } from '../shared/objectStorage/objectStorage.ts';
import type { Store } from '../shared/store/store.ts';

/** Everything that functions work with. Each takes the ports that it needs; a process that serves them gives all. */
export interface Ports {
  readonly store: Store;
  readonly objectStorage: ObjectStorage;
  readonly now: () => Date;
  /** Milliseconds: the longest `timeout` that a request may ask for, and the default. */
  readonly maxTimeoutMs: number;
  readonly maxRequestBytes: number;
  /** Bytes; undefined where responses are streamed without limit. */
  readonly maxResponseBytes: number | undefined;
}
