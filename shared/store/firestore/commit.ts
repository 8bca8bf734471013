import { retry } from '../../retry.ts';
import { checkCommitSize, type DocumentChanges, type Write, WriteConflictError } from '../store.ts';
import { documentName, type FirestoreConnection, type TransactionId, type WriteMessage } from './connection.ts';
import { grpcStatus, isTransient, toStoreError, transientPolicy } from './status.ts';
import { encodeFields } from './values.ts';

/**
 * Commits writes, those of a transaction under its id. Retries a commit whose response was lost. Its creates may then
 * conflict with the documents of the first attempt, which throws a WriteConflictError although the commit succeeded.
 * @throws WriteConflictError, IdentityError; Error when the commit is too large
 */
export async function commit(
  connection: FirestoreConnection,
  writes: readonly Write[],
  transaction?: TransactionId,
): Promise<void> {
  if (writes.length === 0 && transaction === undefined) return;
  checkCommitSize(writes);
  const { client, database, options } = connection;
  const messages = writes.map((write) => encodeWrite(connection, write));
  const request = { database, writes: messages, ...(transaction !== undefined && { transaction }) };
  const policy = transaction === undefined ? commitPolicy : transientPolicy;
  try {
    await retry(policy, () => client.commit(request, options));
  } catch (reason) {
    throw isConflict(reason, writes)
      ? new WriteConflictError('a document exists or is missing', { cause: reason })
      : toStoreError(reason);
  }
}

// A commit that was aborted in favour of a transaction is safe to retry.
const commitPolicy = {
  ...transientPolicy,
  isTransient: (reason: unknown) => isTransient(reason) || grpcStatus(reason) === 'ABORTED',
};

function encodeWrite({ address }: FirestoreConnection, write: Write): WriteMessage {
  const name = documentName(address, write.key);
  if (write.type === 'delete') return { delete: name };
  const update = { name, fields: encodeFields(write.fields) };
  if (write.type === 'create') return { update, currentDocument: { exists: false } };
  return { update, updateMask: { fieldPaths: givenNames(write.fields) }, currentDocument: { exists: true } };
}

function givenNames(fields: DocumentChanges): string[] {
  return Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

// A missing database returns NOT_FOUND as well, so a conflict requires a write with that precondition.
function isConflict(reason: unknown, writes: readonly Write[]): boolean {
  const status = grpcStatus(reason);
  const has = (type: Write['type']) => writes.some((write) => write.type === type);
  if (status === 'ALREADY_EXISTS') return has('create');
  if (status === 'NOT_FOUND') return has('update');
  return status === 'FAILED_PRECONDITION' && (has('create') || has('update'));
}
