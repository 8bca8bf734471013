import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { StoreLocation } from '../../../shared/store/openStore.ts';
import { collections } from '../../../shared/store/store.ts';
import { firestoreEmulator } from '../emulators/withFirestore.ts';

/**
 * Returns the raw content of a database, read without this service's code: the bytes of its files, or Firestore's
 * documents.
 */
export async function rawContent(location: StoreLocation): Promise<string> {
  if (location.kind === 'firestore') return rawDocuments(location.projectId);
  const files = ['identity.sqlite', 'identity.sqlite-wal'].map((name) => readIfExists(join(location.directory, name)));
  return (await Promise.all(files)).join('');
}

async function readIfExists(file: string): Promise<string> {
  return readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}

const page = z.looseObject({ documents: z.array(z.unknown()).default([]), nextPageToken: z.string().optional() });

async function rawDocuments(projectId: string): Promise<string> {
  const texts: string[] = [];
  for (const collection of collections) {
    for (let token: string | undefined = ''; token !== undefined; ) {
      const path = `v1/projects/${projectId}/databases/(default)/documents/${collection}`;
      const url = `http://${firestoreEmulator}/${path}?pageSize=300&pageToken=${token}`;
      const response = await fetch(url, { headers: { authorization: 'Bearer owner' } });
      const text = await response.text();
      if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
      const { documents, nextPageToken } = page.parse(JSON.parse(text));
      texts.push(JSON.stringify(documents));
      token = nextPageToken;
    }
  }
  return texts.join('');
}
