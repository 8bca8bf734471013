import { defined } from '../defined.ts';
import type { IdRange, Store, StoredDocument } from './store.ts';

/**
 * The number of batches that are read from one snapshot. All their documents, at most some thousands, are in memory at
 * once.
 */
const PASS_BATCHES = 20;

export type PassRange = Omit<IdRange, 'from'>;

/**
 * Yields the documents of a range for a caller that commits after each batch. Reads some batches from a snapshot,
 * closes the snapshot, yields these batches, and continues with the next snapshot. A single snapshot might not last for
 * the whole range: the caller's commits could fill the database's log, or the snapshot could become too old. Each
 * snapshot contains the commits that the caller made before it was opened.
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
