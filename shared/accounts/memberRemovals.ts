// Records which members a command removed, so that an import that runs at the same time does not create them again.

import { hash } from 'node:crypto';
import { z } from 'zod';
import { type DocumentKey, documentId, documentPath, type Reader, type Transaction } from '../store/store.ts';

const traceKey: DocumentKey = { collection: 'instance', id: documentId('member removals') };
const digestsSchema = z.array(z.string());

/**
 * The maximum number of stored removals. The database stores a removal as a digest of the member, because no id of a
 * deleted organisation may remain in the database.
 */
const MAX_KEPT = 500;

/** The number of members removed so far, and the digests of the most recently removed members. */
export interface MemberRemovals {
  readonly count: number;
  readonly last: readonly string[];
}

export async function readMemberRemovals(reader: Reader): Promise<MemberRemovals> {
  const [stored] = await reader.getMany([traceKey], ['sequence', 'body']);
  return { count: stored?.sequence ?? 0, last: digestsSchema.parse(JSON.parse(stored?.body ?? '[]')) };
}

export async function traceMemberRemoval(transaction: Transaction, member: DocumentKey): Promise<void> {
  const { count, last } = await readMemberRemovals(transaction);
  const body = JSON.stringify([...last, digestOf(member)].slice(-MAX_KEPT));
  transaction.write([
    { type: count === 0 ? 'create' : 'update', key: traceKey, fields: { sequence: count + 1, body } },
  ]);
}

/**
 * Returns a function that returns whether a member was removed after the first `count` removals. If the database no
 * longer contains all of these later removals, the function returns true for every member. The transaction's commit
 * fails if a member is removed before the commit.
 */
export async function holdMemberRemovals(
  transaction: Transaction,
  count: number,
): Promise<(member: DocumentKey) => boolean> {
  const { count: current, last } = await readMemberRemovals(transaction);
  transaction.hold([traceKey]);
  const newer = current - count;
  if (newer > last.length) return () => true;
  const removed = new Set(newer === 0 ? [] : last.slice(-newer));
  return (member) => removed.has(digestOf(member));
}

function digestOf(member: DocumentKey): string {
  return hash('sha256', documentPath(member), 'base64url');
}
