import { recordSections } from '../../../shared/organisation/allSections.ts';
import { fieldNames } from '../../../shared/store/documentFields.ts';
import { keyRecordKey } from '../../../shared/store/secrets/keyRecord.ts';
import {
  type Collection,
  collections,
  documentPath,
  type Store,
  type StoredDocument,
} from '../../../shared/store/store.ts';
import { scanAll } from './documents.ts';

/** The whole content of a database at one time. */
export type Database = ReadonlyMap<Collection, readonly StoredDocument[]>;

/** Records by place. Equal records have equal texts. */
export type Contents = ReadonlyMap<string, string>;

/** The collections with records of organisations. */
export const recordCollections: ReadonlySet<Collection> = new Set(recordSections.map(({ collection }) => collection));

/**
 * Reads every document of every collection from one snapshot. Excludes the master keys, which differ between databases.
 */
export async function readDatabase(store: Store): Promise<Database> {
  const snapshot = await store.snapshot();
  try {
    const reading = collections.map(
      async (collection) =>
        [collection, (await scanAll(snapshot, { collection })).documents.filter(isComparable)] as const,
    );
    return new Map(await Promise.all(reading));
  } finally {
    await snapshot[Symbol.asyncDispose]();
  }
}

function isComparable({ id }: StoredDocument): boolean {
  return id !== keyRecordKey.id;
}

/** Returns the records of some organisations with their credentials, without the times of their writes. */
export function contentsOf(database: Database, orgIds: readonly string[]): Contents {
  const contents = new Map<string, string>();
  for (const collection of recordCollections) {
    for (const document of database.get(collection) ?? []) {
      const { id, createdAt: _created, changedAt: _changed, ...content } = document;
      if (!orgIds.includes(content.orgId ?? '')) continue;
      contents.set(documentPath({ collection, id }), JSON.stringify(content, [...fieldNames]));
    }
  }
  return contents;
}

/** Returns the number of records of each section in some organisations. */
export function countsOf(database: Database, orgIds: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const collection of recordCollections) {
    for (const { partition = '', orgId = '' } of database.get(collection) ?? []) {
      const name = partition.slice(0, partition.indexOf('/'));
      if (orgIds.includes(orgId)) counts[name] = (counts[name] ?? 0) + 1;
    }
  }
  return counts;
}
