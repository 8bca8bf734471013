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
import { applyWrites, readMany, toDocument } from './documents.ts';

const BATCH = 250;

/**
 * Migrates the documents of an older format, and stores the present format in the instance's document. Requires an open
 * transaction and the present tables.
 * @param key encrypts the secrets
 */
export function migrateDocuments(connection: Connection, from: number, key: MasterKey): void {
  let record: UpgradeRecord = { ...newUpgradeRecord(from, FORMAT), isFenced: true, isFinished: true };
  for (const step of migrationSteps(from)) {
    for (const ids of idsInBatches(connection, step.collection)) {
      const { writes, sharedNames } = migrateIds(connection, step, ids);
      if (writes.length > 0) applyWrites(connection, sealWrites(writes, key));
      record = withSharedNames(record, sharedNames);
    }
  }
  const [instance, earlier] = readMany(connection, [instanceKey, upgradeKey], ['body']).documents;
  if (instance === undefined) return;
  applyWrites(connection, [presentFormat(instance), upgradeRecordWrite(record, earlier !== undefined)]);
}

function* idsInBatches(connection: Connection, collection: Collection): Generator<readonly string[]> {
  const statement = connection.prepare(
    `SELECT id FROM documents WHERE collection = ? AND id > ? ORDER BY id LIMIT ${BATCH}`,
  );
  for (let after = ''; ; ) {
    const rows: readonly unknown[] = statement.all(collection, after);
    const ids = rows.flatMap((row) => (Array.isArray(row) ? [toDocument(row, []).id] : []));
    const last = ids.at(-1);
    if (last === undefined) return;
    yield ids;
    after = last;
  }
}

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
