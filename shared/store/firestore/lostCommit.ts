import { grpc } from 'google-gax';
import { defined } from '../../defined.ts';
import type { Write } from '../store.ts';
import { attemptUntil, fromGrpcError, grpcStatus, isReadTimeRejected, transientPolicy } from './call.ts';
import { documentName, encodeVersion, type FirestoreConnection } from './firestoreConnection.ts';
import type { DocumentMessage, Timestamp, WriteMessage } from './messages.ts';
import { getDocument } from './methods.ts';
import { getDocuments } from './reads.ts';

/**
 * This field of a document contains the id of the commit that last wrote the document. It is not in
 * `documentFieldTypes`, because only this module uses it.
 */
const COMMIT_FIELD = 'commit';

/**
 * Adds the commit's id to the first document that the commit writes. A commit that only deletes documents stores no id.
 */
export function markCommit(messages: readonly WriteMessage[], id: string): void {
  const marked = messages.find(({ update }) => update !== undefined);
  if (marked?.update !== undefined) marked.update.fields[COMMIT_FIELD] = id;
  marked?.updateMask?.push(COMMIT_FIELD);
}

/**
 * Returns whether an attempt of a commit was applied, if the responses were lost. Other calls may have changed the
 * documents since then. So the function reads earlier and earlier states of a document, until it finds the commit's id,
 * or the state that the commit expected.
 * @param messages the commit's writes, of which one contains the id that `markCommit` added
 */
export async function isCommitted(
  connection: FirestoreConnection,
  writes: readonly Write[],
  messages: readonly WriteMessage[],
  id: string,
): Promise<boolean> {
  const hasMark = (document: DocumentMessage | undefined) => document?.fields[COMMIT_FIELD] === id;
  const marked = messages.find(({ update }) => hasMark(update));
  if (marked !== undefined) return everWas(connection, marked, hasMark);
  // A commit that only deletes stores no id. Such a commit counts as applied if each of its documents was missing at
  // some time since.
  const keys = writes.map(({ key }) => key);
  const { documents } = await getDocuments(connection, keys, []);
  const present = new Set(keys.filter((_, index) => documents[index]).map((key) => documentName(connection, key)));
  for (const message of messages.filter((deleted) => present.has(deleted.delete ?? '')))
    if (!(await everWas(connection, message, (document) => document === undefined))) return false;
  return true;
}

/**
 * Returns whether the document of a write has met a condition at some time since it had the version that the write
 * expected.
 */
async function everWas(
  connection: FirestoreConnection,
  { update, delete: deleted, currentDocument }: WriteMessage,
  isAsDescribed: (document: DocumentMessage | undefined) => boolean,
): Promise<boolean> {
  const { updateTime } = currentDocument ?? {};
  const expected = updateTime === undefined ? undefined : encodeVersion({ updateTime });
  for await (const document of readStates(connection, update?.name ?? deleted ?? '')) {
    if (isAsDescribed(document)) return true;
    if (document === undefined || encodeVersion(document) === expected) return false;
  }
  return false;
}

/**
 * The maximum number of earlier states to read. This number suffices, because a document changes at most about once a
 * second.
 */
const MAX_STATES = 100;

/**
 * Yields the present state of a document, then its earlier states. Ends at a state in which the document was missing,
 * or when the database no longer has earlier states.
 */
async function* readStates(connection: FirestoreConnection, name: string): AsyncGenerator<DocumentMessage | undefined> {
  let readTime: Timestamp | undefined;
  for (let states = 0; states < MAX_STATES; states++) {
    const document = await readState(connection, name, readTime);
    if (document === 'unknown') return;
    yield document;
    if (document?.updateTime === undefined) return;
    readTime = justBefore(document.updateTime);
  }
}

async function readState(
  connection: FirestoreConnection,
  name: string,
  readTime: Timestamp | undefined,
): Promise<DocumentMessage | undefined | 'unknown'> {
  const request = { name, mask: [COMMIT_FIELD], ...defined({ readTime }) };
  try {
    return await attemptUntil(connection.deadline, transientPolicy, () => getDocument(connection, request));
  } catch (reason) {
    if (grpcStatus(reason) === grpc.status.NOT_FOUND) return undefined;
    if (readTime !== undefined && isReadTimeRejected(reason)) return 'unknown';
    throw fromGrpcError(reason);
  }
}

/** Returns the time one microsecond earlier. Firestore's timestamps have this precision. */
function justBefore({ seconds, nanos }: Timestamp): Timestamp {
  const earlier = nanos - 1_000;
  return earlier >= 0 ? { seconds, nanos: earlier } : { seconds: seconds - 1, nanos: earlier + 1_000_000_000 };
}
