import { z } from 'zod';
import { type DocumentKey, documentId, type Reader, type StoredDocument, type Transaction } from '../store/store.ts';

const listKey: DocumentKey = { collection: 'instance', id: documentId('organisation removals') };
const listSchema = z.array(z.string());

/** Returns the ids of the organisations whose removal is running or was interrupted. */
export async function readRemovals(reader: Reader): Promise<ReadonlySet<string>> {
  const [stored] = await reader.getMany([listKey], ['body']);
  return listedIn(stored);
}

export async function changeRemovals(
  transaction: Transaction,
  change: (orgIds: ReadonlySet<string>) => Iterable<string>,
): Promise<void> {
  const [stored] = await transaction.getMany([listKey], ['body']);
  const body = JSON.stringify([...change(listedIn(stored))]);
  transaction.write([{ type: stored === undefined ? 'create' : 'update', key: listKey, fields: { body } }]);
}

function listedIn(stored: StoredDocument | undefined): ReadonlySet<string> {
  return new Set(listSchema.parse(JSON.parse(stored?.body ?? '[]')));
}
