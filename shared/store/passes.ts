// Scans in passes, for callers that commit between batches.

import { defined } from '../defined.ts';
import type { IdRange, Store, StoredDocument } from './store.ts';

/** The number of batches in a pass. All documents of a pass, at most some thousands, are in memory at once. */
const PASS_BATCHES = 20;

/** The documents of a collection, in one partition or in all partitions. */
export type PassRange = Omit<IdRange, 'from'>;

/**
 * Reads the documents of a range in passes, for a caller that commits after each batch. Each pass has its own snapshot,
 * which is closed before the caller receives the documents. A single snapshot would end when the caller's commits fill
 * the log of the database, or when it becomes too old. A pass includes what the caller committed during earlier passes.
 */
export async function* scanInPasses(
  store: Pick<Store, 'snapshot'>,
  range: PassRange,
): AsyncGenerator<readonly StoredDocument[]> {
  for (let after: string | undefined; ; ) {
    const { batches, isLast } = await readPass(store, range, after);
    yield* batches;
    if (isLast) return;
    after = batches.at(-1)?.at(-1)?.id;
  }
}

async function readPass(store: Pick<Store, 'snapshot'>, range: PassRange, after: string | undefined) {
  const batches: (readonly StoredDocument[])[] = [];
  await using snapshot = await store.snapshot();
  for await (const documents of snapshot.scan({ ...range, ...defined({ from: after }) })) {
    batches.push(documents.filter(({ id }) => id !== after));
    if (batches.length === PASS_BATCHES) return { batches, isLast: false };
  }
  return { batches, isLast: true };
}
