import { randomUUID } from 'node:crypto';
import { retry } from '../../retry.ts';
import {
  checkCommitSize,
  type DocumentChanges,
  type DocumentKey,
  documentPath,
  type Write,
  WriteConflictError,
} from '../store.ts';
import type { ExpectedVersions, Version } from '../transaction.ts';
import { documentName, type FirestoreConnection, type WriteMessage } from './connection.ts';
import { readMany } from './readMany.ts';
import { grpcStatus, isTransient, toStoreError, transientPolicy } from './status.ts';
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
  const { client, database, options } = connection;
  const id = randomUUID();
  const messages = encodeCommit(connection, writes, expected, id);
  let attempts = 0;
  try {
    await retry(commitPolicy, () => {
      attempts++;
      return client.commit({ database, writes: messages }, options);
    });
  } catch (reason) {
    if (!isConflict(reason, writes, expected)) throw toStoreError(reason);
    if (attempts > 1 && (await isCommitted(connection, writes, messages, id))) return;
    throw new WriteConflictError('a document exists, is missing or has changed', { cause: reason });
  }
}

// The server aborts a commit that contends with another one; nothing of it was applied.
const commitPolicy = {
  ...transientPolicy,
  isTransient: (reason: unknown) => isTransient(reason) || grpcStatus(reason) === 'ABORTED',
};

function encodeCommit(
  connection: FirestoreConnection,
  writes: readonly Write[],
  expected: ExpectedVersions,
  id: string,
): WriteMessage[] {
  const versionOf = (key: DocumentKey) => expected.get(documentPath(key))?.version;
  const messages = writes.map((write) => encodeWrite(connection, write, versionOf(write.key)));
  const marked = messages.find(({ update }) => update != null);
  if (marked?.update) marked.update.fields = { ...marked.update.fields, [COMMIT_FIELD]: { stringValue: id } };
  marked?.updateMask?.fieldPaths?.push(COMMIT_FIELD);
  const written = new Set(writes.map(({ key }) => documentPath(key)));
  const held = [...expected].filter(([path]) => !written.has(path)).map(([, document]) => document);
  return [...messages, ...held.flatMap(({ key, version }) => encodeHold(connection, key, version))];
}

function encodeWrite({ address }: FirestoreConnection, write: Write, version: Version): WriteMessage {
  const name = documentName(address, write.key);
  const unchanged = version === undefined ? undefined : { updateTime: decodeVersion(version) };
  if (write.type === 'delete') return { delete: name, ...(unchanged && { currentDocument: unchanged }) };
  const update = { name, fields: encodeFields(write.fields) };
  if (write.type === 'create') return { update, currentDocument: { exists: false } };
  return {
    update,
    updateMask: { fieldPaths: givenNames(write.fields) },
    currentDocument: unchanged ?? { exists: true },
  };
}

/** An update without fields changes nothing, and requires the version. A missing document cannot be held. */
function encodeHold({ address }: FirestoreConnection, key: DocumentKey, version: Version): WriteMessage[] {
  if (version === undefined) return [];
  const update = { name: documentName(address, key), fields: {} };
  return [{ update, updateMask: { fieldPaths: [] }, currentDocument: { updateTime: decodeVersion(version) } }];
}

function givenNames(fields: DocumentChanges): string[] {
  return Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

// A missing database also gives NOT_FOUND, so the status alone does not tell.
function isConflict(reason: unknown, writes: readonly Write[], expected: ExpectedVersions): boolean {
  const status = grpcStatus(reason);
  const has = (type: Write['type']) => writes.some((write) => write.type === type);
  const requiresExisting = has('update') || expected.size > 0;
  if (status === 'ALREADY_EXISTS') return has('create');
  if (status === 'NOT_FOUND') return requiresExisting;
  return status === 'FAILED_PRECONDITION' && (has('create') || requiresExisting);
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

async function readCommitId({ client, options }: FirestoreConnection, name: string): Promise<string | undefined> {
  try {
    const request = { name, mask: { fieldPaths: [COMMIT_FIELD] } };
    const [document] = await retry(transientPolicy, () => client.getDocument(request, options));
    return document.fields?.[COMMIT_FIELD]?.stringValue ?? undefined;
  } catch (reason) {
    if (grpcStatus(reason) === 'NOT_FOUND') return undefined;
    throw toStoreError(reason);
  }
}
