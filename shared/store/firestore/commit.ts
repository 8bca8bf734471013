import { randomUUID } from 'node:crypto';
import { grpc } from 'google-gax';
import type { ExpectedVersions, Version } from '../database.ts';
import { type DocumentChanges, documentPath, type Write, WriteConflictError } from '../store.ts';
import { attemptUntil, commitPolicy, fromGrpcError, grpcStatus } from './call.ts';
import { decodeVersion, documentName, encodeFields, type FirestoreConnection } from './firestoreConnection.ts';
import { isCommitted, markCommit } from './lostCommit.ts';
import { encodeCommit, type WriteMessage } from './messages.ts';
import { commitWrites } from './methods.ts';

/**
 * Commits writes if the documents still have their expected versions. If a response is lost, sends the commit again,
 * and uses `isCommitted` to find out whether an earlier attempt was applied.
 * @throws WriteConflictError if a document does not have the expected version, or a precondition of a write fails;
 * IdentityError if the commit fails for another reason
 */
export async function commit(
  connection: FirestoreConnection,
  writes: readonly Write[],
  expected: ExpectedVersions,
): Promise<void> {
  const { database, deadline, limiter } = connection;
  const id = randomUUID();
  const createMessages = () => writeMessages(connection, writes, expected, id);
  const { request, size } = encodeOnce(database, createMessages());
  let attempts = 0;
  const send = () => {
    attempts++;
    return commitWrites(connection, request);
  };
  const sendInTurn = () => limiter?.run(size, send, deadline?.signal) ?? send();
  try {
    await attemptUntil(deadline, commitPolicy, sendInTurn);
  } catch (reason) {
    const messages = createMessages();
    const conflicts = isConflict(reason, messages);
    const mayBeCommitted = conflicts || grpcStatus(reason) === grpc.status.ABORTED || deadline?.signal.aborted === true;
    if (mayBeCommitted && attempts > 1 && (await isCommitted(connection, writes, messages, id))) return;
    if (!conflicts) throw fromGrpcError(reason);
    throw new WriteConflictError(
      'a document to create already exists, or a document to change is missing or has changed',
      { cause: reason },
    );
  }
}

/**
 * Encodes a commit once for all attempts. Returns only the bytes, because the message objects of many commits in flight
 * would need much memory.
 */
function encodeOnce(database: string, writes: readonly WriteMessage[]) {
  return { request: encodeCommit({ database, writes }), size: writes.length };
}

function writeMessages(
  connection: FirestoreConnection,
  writes: readonly Write[],
  expected: ExpectedVersions,
  id: string,
): WriteMessage[] {
  const unwritten = new Map(expected);
  const messages = writes.map((write) => {
    const path = documentPath(write.key);
    // If a commit writes a document twice, only the first write can require the version that was read, because the
    // first write changes the version.
    const precondition = encodePrecondition(write, unwritten.get(path));
    unwritten.delete(path);
    return { ...encodeWrite(documentName(connection, write.key), write), ...precondition };
  });
  markCommit(messages, id);
  return [...messages, ...[...unwritten.values()].map((held) => encodeHold(documentName(connection, held.key), held))];
}

function encodeWrite(name: string, write: Write): WriteMessage {
  if (write.type === 'delete') return { delete: name };
  const update = { name, fields: encodeFields(write.fields) };
  return write.type === 'create' ? { update } : { update, updateMask: givenNames(write.fields) };
}

function givenNames(fields: DocumentChanges): string[] {
  return Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

type ExpectedVersion = { readonly version: Version } | undefined;

function encodePrecondition({ type, key }: Write, expected: ExpectedVersion): Pick<WriteMessage, 'currentDocument'> {
  if (type === 'create') return { currentDocument: { exists: false } };
  if (expected !== undefined && expected.version === undefined) {
    // Throw here, because Firestore does not permit an update with the precondition that the document is missing.
    if (type === 'update') throw new WriteConflictError(`update of ${documentPath(key)}: the document is missing`);
    return { currentDocument: { exists: false } };
  }
  if (expected?.version !== undefined) return { currentDocument: { updateTime: decodeVersion(expected.version) } };
  return type === 'update' ? { currentDocument: { exists: true } } : {};
}

/**
 * Encodes a write that requires a version but changes nothing. It is an update without fields or, if the document must
 * be missing, a delete.
 */
function encodeHold(name: string, { version }: NonNullable<ExpectedVersion>): WriteMessage {
  if (version === undefined) return { delete: name, currentDocument: { exists: false } };
  const currentDocument = { updateTime: decodeVersion(version) };
  return { update: { name, fields: {} }, updateMask: [], currentDocument };
}

// Returns whether a commit failed because of a conflict. The status alone does not prove this, because NOT_FOUND, for
// example, can also mean that the database is missing.
function isConflict(reason: unknown, messages: readonly WriteMessage[]): boolean {
  const { status } = grpc;
  const preconditions = messages.flatMap(({ currentDocument }) => currentDocument ?? []);
  switch (grpcStatus(reason)) {
    case status.ALREADY_EXISTS:
      return preconditions.some(({ exists }) => exists === false);
    case status.NOT_FOUND:
      return preconditions.some(({ exists }) => exists !== false);
    case status.FAILED_PRECONDITION:
      return preconditions.length > 0;
    default:
      return false;
  }
}
