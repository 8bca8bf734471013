import { z } from 'zod';
import { FORMAT, instanceBody, instanceKey, upgradeKey } from '../format.ts';
import {
  batchDependencies,
  type MigratedBatch,
  MigrationBatch,
  type MigrationStep,
  migrateBatch,
} from '../migrations/migration.ts';
import {
  newUpgradeRecord,
  type UpgradeRecord,
  upgradeRecordWrite,
  withSharedNames,
} from '../migrations/upgradeRecord.ts';
import { migrationSteps } from '../migrations.ts';
import type { MasterKey } from '../secrets/masterKey.ts';
import { sealWrites } from '../secrets/sealedFields.ts';
import type { Collection, StoredDocument, Write } from '../store.ts';
import type { Connection } from './connection.ts';
import { applyWrites, DOCUMENT_ID_SQL, nextVersion, readMany } from './documents.ts';

const BATCH = 250;

/**
 * Migrates the documents of an older format, and stores the present format in the instance's document. Requires an open
 * transaction and the present tables.
 * @param key encrypts the secrets
 */
export function migrateDocuments(connection: Connection, from: number, key: MasterKey): void {
  const version = nextVersion(connection);
  let record: UpgradeRecord = { ...newUpgradeRecord(from, FORMAT), isFenced: true, isFinished: true };
  for (const step of migrationSteps(from)) {
    for (const ids of idsInBatches(connection, step.collection)) {
      const { writes, sharedNames } = migrateIds(connection, step, ids);
      if (writes.length > 0) applyWrites(connection, sealWrites(writes, key), version);
      record = withSharedNames(record, sharedNames);
    }
  }
  const [instance, earlier] = readMany(connection, [instanceKey, upgradeKey], ['body']).documents;
  if (instance === undefined) return;
  applyWrites(connection, [presentFormat(instance), upgradeRecordWrite(record, earlier !== undefined)], version);
}

/** Yields the ids of a collection's documents in their order, in which Firestore reads them too. */
function* idsInBatches(connection: Connection, collection: Collection): Generator<readonly string[]> {
  const statement = connection.prepare(
    `SELECT ${DOCUMENT_ID_SQL} AS document_id FROM documents WHERE collection = ? ORDER BY document_id`,
  );
  const ids = idRows.parse(statement.all(collection)).map(([id]) => id);
  for (let start = 0; start < ids.length; start += BATCH) yield ids.slice(start, start + BATCH);
}

const idRows = z.array(z.tuple([z.string()]));

function migrateIds(connection: Connection, step: MigrationStep, ids: readonly string[]): MigratedBatch {
  const keys = ids.map((id) => ({ collection: step.collection, id }));
  const documents = readMany(connection, keys, step.fields).documents.flatMap((document) => document ?? []);
  const dependencies = batchDependencies(step, documents);
  const found = readMany(connection, dependencies, ['orgId', 'ownerId']).documents;
  return migrateBatch(step, documents, new MigrationBatch(dependencies, found));
}

function presentFormat({ body = '{}' }: StoredDocument): Write {
  const { migratedFrom: _, ...present } = instanceBody.parse(JSON.parse(body));
  return { type: 'update', key: instanceKey, fields: { body: JSON.stringify({ ...present, format: FORMAT }) } };
}
