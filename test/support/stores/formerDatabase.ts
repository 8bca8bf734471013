import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { issueToken } from '../../../shared/accounts/personalAccessTokens.ts';
import {
  documentFieldTypes,
  fieldNames,
  type MutableDocument,
  setField,
} from '../../../shared/store/documentFields.ts';
import type { SharedName } from '../../../shared/store/migrations/migration.ts';
import { type Collection, collections, type Store, type Write } from '../../../shared/store/store.ts';
import { servedInstance, type TestInstance } from '../instances/testInstance.ts';

/** A database that a former version has written. */
export interface FormerDatabase {
  readonly file: string;
  /** The owner of the instance, and the default organisation. */
  readonly owner: { readonly orgId: string; readonly userId: string };
  /** The records whose names other records hold. */
  readonly sharedNames: readonly SharedName[];
}

const fileNamed = (name: string) => fileURLToPath(new URL(`../../fixtures/formats/${name}`, import.meta.url));

/**
 * Format 1, which version 0.1.0 (92c0c12) has written by the imports in `0.1.0.imports.json`, by the creation of the
 * service user `backup-job` in the organisation `mixed`, and by an import of the organisation `unfinished` that was ended
 * after its second commit.
 */
export const formatOne: FormerDatabase = {
  file: fileNamed('0.1.0.sqlite'),
  owner: { orgId: '593466933940618786', userId: '528681713907867642' },
  sharedNames: [
    { orgId: 'contradicted', collection: 'users', id: 'bert2', holderId: 'bert' },
    { orgId: 'mixed', collection: 'users', id: 'emma', holderId: 'emma2' },
  ],
};

/**
 * Format 3, which f72cdb5 has written by the first import in `3.imports.json`, before it claimed the names of
 * applications, roles and links, and 7fc4d5c by the second.
 */
export const formatThree: FormerDatabase = {
  file: fileNamed('3.sqlite'),
  owner: { orgId: '800257855254896728', userId: '890542199773570751' },
  sharedNames: [
    { orgId: 'muller2', collection: 'organisations', id: 'muller2', holderId: 'muller' },
    {
      orgId: 'muller',
      collection: 'domains',
      id: 'muller|mu\u0308ller.example',
      holderId: 'muller2|m\u00fcller.example',
    },
    { orgId: 'carrying', collection: 'users', id: 'gina', holderId: 'gina2' },
    { orgId: 'alike', collection: 'users', id: 'strasse2', holderId: 'strasse' },
    { orgId: 'alike', collection: 'users', id: 'robot2', holderId: 'robot' },
    { orgId: 'alike', collection: 'users', id: 'jose2', holderId: 'jose' },
    { orgId: 'unclaimed', collection: 'applications', id: 'web', holderId: 'web2' },
    { orgId: 'unclaimed', collection: 'projectRoles', id: 'portal|Admin', holderId: 'portal|admin' },
    { orgId: 'unclaimed', collection: 'userLinks', id: 'idp|X1', holderId: 'idp|x1' },
  ],
};

/** Writes the documents of a former version's file to a store. */
export async function writeFormerDatabase(store: Store, { file }: FormerDatabase): Promise<void> {
  using database = new DatabaseSync(file, { readOnly: true });
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

/**
 * Serves a store with a former version's documents, for its owner.
 * @param served the store to serve instead, over which something can go wrong
 */
export async function formerInstance(store: Store, { owner }: FormerDatabase, served = store): Promise<TestInstance> {
  const { token } = await issueToken(store, owner.userId, new Date(), 3_600_000);
  return servedInstance(served, { ...owner, token });
}
