import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { issueToken } from '../../../shared/accounts/personalAccessTokens.ts';
import {
  documentFieldTypes,
  fieldNames,
  type MutableDocument,
  setField,
} from '../../../shared/store/documentFields.ts';
import { type Collection, collections, type Store, type Write } from '../../../shared/store/store.ts';
import { servedInstance, type TestInstance } from '../instances/testInstance.ts';

/**
 * The database file that version 0.1.0 (92c0c12) has written by the imports in `0.1.0.imports.json`, by the creation of the
 * service user `backup-job` in the organisation `mixed`, and by an import of the organisation `unfinished` that was ended
 * after its second commit.
 */
export const formerFile = fileURLToPath(new URL('../../fixtures/formats/0.1.0.sqlite', import.meta.url));

/** The users of the file whose login names other users hold. */
export const formerSharedNames = [
  { orgId: 'contradicted', userId: 'bert2', holderId: 'bert' },
  { orgId: 'mixed', userId: 'emma', holderId: 'emma2' },
];

/** Writes the documents of the former version's file to a store. */
export async function writeFormerDatabase(store: Store): Promise<void> {
  using database = new DatabaseSync(formerFile, { readOnly: true });
  const rows = database.prepare('SELECT * FROM documents').all();
  await store.commit(
    rows.map((row): Write => {
      const document: MutableDocument = { id: String(row.id) };
      for (const name of fieldNames) {
        const value = row[name];
        if (value === null || value === undefined) continue;
        setField(document, name, documentFieldTypes[name] === 'boolean' ? value === 1 : value);
      }
      const { id, ...fields } = document;
      return { type: 'create', key: { collection: toCollection(row.collection), id }, fields };
    }),
  );
}

function toCollection(name: unknown): Collection {
  const collection = collections.find((known) => known === name);
  if (collection === undefined) throw new Error(`unknown collection ${String(name)}`);
  return collection;
}

/** The owner of the former version's instance. */
const former = { orgId: '593466933940618786', userId: '528681713907867642' };

/**
 * Serves a store with the former version's documents, for its owner.
 * @param served the store to serve instead, over which something can go wrong
 */
export async function formerInstance(store: Store, served = store): Promise<TestInstance> {
  const { token } = await issueToken(store, former.userId, new Date(), 3_600_000);
  return servedInstance(served, { orgId: former.orgId, token });
}
