// The record of organisations in removal.

import { randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type DocumentKey, documentId, type Reader, type Transaction } from '../store/store.ts';

/** The removals of organisations at one moment. */
export interface Removals {
  /** Changes whenever a removal begins or ends. Empty before the first removal. */
  readonly version: string;
  /** The organisations whose removal has begun and not ended. */
  readonly orgIds: ReadonlySet<string>;
}

/*
 * Imports commit only if the version is unchanged since they checked their batch, so that nothing is written into a removed
 * organisation. The version is stored in many documents that change together, and a commit requires one of them: Firestore
 * locks required documents, and all commits of imports would take turns on a single document.
 */
const COPIES = 64;

function copyKey(number: number): DocumentKey {
  return { collection: 'instance', id: documentId('organisation removals', String(number)) };
}

/** The first copy also lists the organisations. */
const listKey = copyKey(0);
const listSchema = z.array(z.string());

/** Reads the removals. */
export async function readRemovals(reader: Reader): Promise<Removals> {
  const [stored] = await reader.getMany([listKey], ['digest', 'body']);
  return { version: stored?.digest ?? '', orgIds: new Set(listSchema.parse(JSON.parse(stored?.body ?? '[]'))) };
}

/** Reads the removals, and requires that none begins or ends before the commit. */
export async function holdRemovals(transaction: Transaction): Promise<Removals> {
  const removals = await readRemovals(transaction);
  transaction.hold([listKey]);
  return removals;
}

/** Reads the version only, and requires that it does not change before the commit. Many commits can do so at once. */
export async function holdRemovalsVersion(transaction: Transaction): Promise<string> {
  const key = copyKey(randomInt(COPIES));
  const [stored] = await transaction.getMany([key], ['digest']);
  transaction.hold([key]);
  return stored?.digest ?? '';
}

/** Changes the list of unfinished removals, and the version. */
export async function changeRemovals(
  transaction: Transaction,
  change: (orgIds: ReadonlySet<string>) => Iterable<string>,
): Promise<void> {
  const { orgIds } = await readRemovals(transaction);
  const keys = Array.from({ length: COPIES }, (_, number) => copyKey(number));
  const stored = await transaction.getMany(keys, []);
  const digest = randomUUID();
  const body = JSON.stringify([...change(orgIds)]);
  transaction.write(
    keys.map((key, number) => ({
      type: stored[number] === undefined ? 'create' : 'update',
      key,
      fields: number === 0 ? { digest, body } : { digest },
    })),
  );
}
