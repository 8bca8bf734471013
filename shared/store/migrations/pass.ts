import type { IdRange, Store, StoredDocument } from '../store.ts';
import { batchDependencies, MigrationBatch, type MigrationStep, migrateBatch, type SharedName } from './migration.ts';

/** Keeps each snapshot younger than any database's limit. */
const BATCHES_PER_SNAPSHOT = 200;
const BATCH = 250;

/** Reads a part of a collection from one snapshot, in batches; by default the documents' ids only. */
export async function runBatches(
  store: Store,
  { collection, fields = [] }: Pick<IdRange, 'collection' | 'fields'>,
  from: string | undefined,
  migrate: (documents: readonly StoredDocument[]) => Promise<void>,
): Promise<{ readonly after: string | undefined; readonly isComplete: boolean }> {
  let after = from;
  let batches = 0;
  await using snapshot = await store.snapshot();
  const range = { collection, fields, ...(from === undefined ? {} : { from }) };
  for await (const documents of snapshot.scan(range)) {
    for (let start = 0; start < documents.length; start += BATCH) {
      const batch = documents.slice(start, start + BATCH);
      await migrate(batch);
      after = batch.at(-1)?.id;
      if (++batches === BATCHES_PER_SNAPSHOT) return { after, isComplete: false };
    }
  }
  return { after, isComplete: true };
}

/** Migrates documents in one commit, which applies only while nothing that was read for it has changed. */
export function migrateDocuments(
  store: Store,
  step: MigrationStep,
  documents: readonly StoredDocument[],
): Promise<readonly SharedName[]> {
  const keys = documents.map(({ id }) => ({ collection: step.collection, id }));
  return store.transaction(async (transaction) => {
    const present = (await transaction.getMany(keys, step.fields)).flatMap((document) => document ?? []);
    const dependencies = batchDependencies(step, present);
    const found = await transaction.getMany(dependencies, ['orgId', 'ownerId']);
    const { writes, held, sharedNames } = migrateBatch(step, present, new MigrationBatch(dependencies, found));
    transaction.write(writes);
    transaction.hold(held);
    return sharedNames;
  });
}
