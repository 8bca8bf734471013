import { isRecord, textAt } from '../contract/jsonRecord.ts';
import { partitionOf, type Section } from '../contract/section.ts';
import { sections } from '../contract/sections.ts';
import type { DocumentKey, Snapshot, Store, StoredDocument } from '../store/store.ts';

/** Where the records of an organisation are that refer to one of its users: memberships, grants, metadata, links, keys. */
export async function recordsReferringTo(store: Store, userId: string, orgId: string): Promise<DocumentKey[]> {
  const snapshot = await store.snapshot();
  try {
    const keys: DocumentKey[] = [];
    for (const section of sections) {
      for (const path of userPaths(section)) keys.push(...(await matching(snapshot, section, path, userId, orgId)));
    }
    return keys;
  } finally {
    await snapshot.close();
  }
}

function userPaths({ references = [] }: Section): string[] {
  return references.filter(({ collection }) => collection === 'users').flatMap(({ key }) => key);
}

async function matching(
  snapshot: Snapshot,
  section: Section,
  path: string,
  userId: string,
  orgId: string,
): Promise<DocumentKey[]> {
  const { collection } = section;
  const keys: DocumentKey[] = [];
  const range = { collection, partition: partitionOf(orgId, section), fields: ['body'] } as const;
  for await (const documents of snapshot.scan(range)) {
    const found = documents.filter((document) => textOf(document, path, orgId) === userId);
    keys.push(...found.map(({ id }) => ({ collection, id })));
  }
  return keys;
}

function textOf({ body = '{}' }: StoredDocument, path: string, orgId: string): string {
  const json: unknown = JSON.parse(body);
  return isRecord(json) ? textAt(json, path, orgId) : '';
}
