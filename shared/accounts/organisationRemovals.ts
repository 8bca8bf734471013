// The record of organisations in removal.

import { z } from 'zod';
import { type DocumentKey, documentId, type Reader, type Transaction } from '../store/store.ts';

const listKey: DocumentKey = { collection: 'instance', id: documentId('organisation removals') };
const listSchema = z.array(z.string());

/** Reads the organisations whose removal has begun and not ended: it runs, or was interrupted. */
export async function readRemovals(reader: Reader): Promise<ReadonlySet<string>> {
  const [stored] = await reader.getMany([listKey], ['body']);
  return new Set(listSchema.parse(JSON.parse(stored?.body ?? '[]')));
}

/** Changes the list of unfinished removals. */
export async function changeRemovals(
  transaction: Transaction,
  change: (orgIds: ReadonlySet<string>) => Iterable<string>,
): Promise<void> {
  const [stored] = await transaction.getMany([listKey], ['body']);
  const orgIds = new Set(listSchema.parse(JSON.parse(stored?.body ?? '[]')));
  const body = JSON.stringify([...change(orgIds)]);
  transaction.write([{ type: stored === undefined ? 'create' : 'update', key: listKey, fields: { body } }]);
}
