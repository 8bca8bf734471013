import { randomUUID } from 'node:crypto';
import { checkCommitSize, type DocumentChanges, documentPath, type Write, WriteConflictError } from '../store.ts';
import type { ExpectedVersions, Version } from '../transaction.ts';
import { attemptUntil } from './call.ts';
import { documentName, type FirestoreConnection, type WriteMessage } from './connection.ts';
import { countDocuments } from './count.ts';
import { readMany } from './readMany.ts';
import { commitPolicy, grpcStatus, toStoreError, transientPolicy } from './status.ts';
import { decodeVersion, encodeFields } from './values.ts';

/** A field beside `documentFieldTypes`: the id of the commit that wrote the document. */
const COMMIT_FIELD = 'commit';

/**
 * Commits writes under the versions of documents. A commit whose response got lost is sent again, and recognises the
 * first one by the id that it stored.
 * @throws WriteConflictError, IdentityError; Error when the commit is too large
 */
export async function commit(
  connection: FirestoreConnection,
  writes: readonly Write[],
  expected: ExpectedVersions = new Map(),
): Promise<void> {
  if (writes.length === 0) return;
  checkCommitSize(writes);
  const { client, database, options, deadline, pace } = connection;
  const id = randomUUID();
  const messages = encodeCommit(connection, writes, expected, id);
  let attempts = 0;
  const send = () => {
    attempts++;
    return client.commit({ database, writes: messages }, options);
  };
  const sendInTurn = () => pace?.limiter.run(messages.length, send, deadline?.signal) ?? send();
  await pace?.ramp?.admit(writes, (...range) => countDocuments(connection, ...range), deadline?.signal);
  try {
    await attemptUntil(deadline, commitPolicy, sendInTurn);
  } catch (reason) {
    const conflicts = isConflict(reason, messages);
    const mayBeCommitted = conflicts || grpcStatus(reason) === 'ABORTED' || deadline?.signal.aborted === true;
    if (mayBeCommitted && attempts > 1 && (await isCommitted(connection, writes, messages, id))) return;
    if (!conflicts) throw toStoreError(reason);
    throw new WriteConflictError('a document exists, is missing or has changed', { cause: reason });
  }
}

function encodeCommit(
  { address }: FirestoreConnection,
  writes: readonly Write[],
  expected: ExpectedVersions,
  id: string,
): WriteMessage[] {
  const unwritten = new Map(expected);
  const messages = writes.map((write) => {
    const path = documentPath(write.key);
    // Only the first write of a document meets the version that was read.
    const precondition = encodePrecondition(write, unwritten.get(path));
    unwritten.delete(path);
    return { ...encodeWrite(documentName(address, write.key), write), ...precondition };
  });
  const marked = messages.find(({ update }) => update != null);
  if (marked?.update) marked.update.fields = { ...marked.update.fields, [COMMIT_FIELD]: { stringValue: id } };
  marked?.updateMask?.fieldPaths?.push(COMMIT_FIELD);
  return [...messages, ...[...unwritten.values()].map((held) => encodeHold(documentName(address, held.key), held))];
}

function encodeWrite(name: string, write: Write): WriteMessage {
  if (write.type === 'delete') return { delete: name };
  const update = { name, fields: encodeFields(write.fields) };
  return write.type === 'create' ? { update } : { update, updateMask: { fieldPaths: givenNames(write.fields) } };
}

function givenNames(fields: DocumentChanges): string[] {
  return Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

type Expectation = { readonly version: Version } | undefined;

function encodePrecondition({ type, key }: Write, expected: Expectation): Pick<WriteMessage, 'currentDocument'> {
  if (type === 'create') return { currentDocument: { exists: false } };
  if (expected !== undefined && expected.version === undefined) {
    // No precondition of an update says that the document is missing.
    if (type === 'update') throw new WriteConflictError(`update of ${documentPath(key)}: the document is missing`);
    return { currentDocument: { exists: false } };
  }
  if (expected?.version !== undefined) return { currentDocument: { updateTime: decodeVersion(expected.version) } };
  return type === 'update' ? { currentDocument: { exists: true } } : {};
}

/** Encodes a write that changes nothing: an update without fields, or the delete of a missing document. */
function encodeHold(name: string, { version }: NonNullable<Expectation>): WriteMessage {
  if (version === undefined) return { delete: name, currentDocument: { exists: false } };
  const currentDocument = { updateTime: decodeVersion(version) };
  return { update: { name, fields: {} }, updateMask: { fieldPaths: [] }, currentDocument };
}

// A missing database also gives NOT_FOUND, so the status alone does not tell.
function isConflict(reason: unknown, messages: readonly WriteMessage[]): boolean {
  const status = grpcStatus(reason);
  const preconditions = messages.flatMap(({ currentDocument }) => currentDocument ?? []);
  if (status === 'ALREADY_EXISTS') return preconditions.some(({ exists }) => exists === false);
  if (status === 'NOT_FOUND') return preconditions.some(({ exists }) => exists !== false);
  return status === 'FAILED_PRECONDITION' && preconditions.length > 0;
}

/** Whether an earlier attempt of the same commit was applied, although its response got lost. */
async function isCommitted(
  connection: FirestoreConnection,
  writes: readonly Write[],
  messages: readonly WriteMessage[],
  id: string,
): Promise<boolean> {
  const name = messages.find(({ update }) => update?.fields?.[COMMIT_FIELD] != null)?.update?.name;
  if (name != null) return (await readCommitId(connection, name)) === id;
  // A commit of deletes alone stores no id: it was applied if nothing is left of what it deletes.
  const keys = writes.map(({ key }) => key);
  return (await readMany(connection, keys, [])).documents.every((document) => document === undefined);
}

async function readCommitId(
  { client, options, deadline }: FirestoreConnection,
  name: string,
): Promise<string | undefined> {
  try {
    const request = { name, mask: { fieldPaths: [COMMIT_FIELD] } };
    const [document] = await attemptUntil(deadline, transientPolicy, () => client.getDocument(request, options));
    return document.fields?.[COMMIT_FIELD]?.stringValue ?? undefined;
  } catch (reason) {
    if (grpcStatus(reason) === 'NOT_FOUND') return undefined;
    throw toStoreError(reason);
  }
}
