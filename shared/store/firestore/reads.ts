import type { VersionedDocuments } from '../database.ts';
import type { FieldName } from '../documentFields.ts';
import type { DocumentKey } from '../store.ts';
import { attemptUntil, type CallDeadline, fromGrpcError, transientPolicy } from './call.ts';
import {
  decodeDocument,
  documentName,
  encodeVersion,
  type FirestoreConnection,
  selectedPaths,
} from './firestoreConnection.ts';
import type { BatchGetResponse, DocumentMessage, Timestamp } from './messages.ts';
import { batchGetDocuments, type ResponseStream } from './methods.ts';

export interface ReadResult extends VersionedDocuments {
  readonly readTime: Timestamp | undefined;
}

// The maximum number of names in a request. Even with the longest ids, the request then stays below the emulator's
// limit of 4 MiB.
const NAMES_PER_REQUEST = 2_000;

/** @param at the past state to read; if absent, the latest state */
export async function getDocuments(
  connection: FirestoreConnection,
  keys: readonly DocumentKey[],
  fields: readonly FieldName[],
  at?: { readonly timestamp: Timestamp },
): Promise<ReadResult> {
  const { database, deadline } = connection;
  const state = at === undefined ? {} : { readTime: at.timestamp };
  const names = keys.map((key) => documentName(connection, key));
  const distinct = [...new Set(names)];
  const messagesByName = new Map<string, DocumentMessage>();
  let readTime: Timestamp | undefined;
  for (let from = 0; from < distinct.length; from += NAMES_PER_REQUEST) {
    const documents = distinct.slice(from, from + NAMES_PER_REQUEST);
    const request = { database, documents, mask: selectedPaths(fields), ...state };
    for (const response of await collectResponses(deadline, () => batchGetDocuments(connection, request))) {
      if (response.found !== undefined) messagesByName.set(response.found.name, response.found);
      readTime = response.readTime ?? readTime;
    }
  }
  const messages = names.map((name) => messagesByName.get(name));
  return {
    documents: messages.map((message) => message && decodeDocument(message, fields)),
    versions: messages.map((message) => message && encodeVersion(message)),
    readTime,
  };
}

/**
 * Collects the responses of a stream. Uses the stream's events, because a loop that awaits each response takes longer
 * than receiving the responses.
 */
async function collectResponses(
  deadline: CallDeadline | undefined,
  call: () => Promise<ResponseStream>,
): Promise<readonly BatchGetResponse[]> {
  const attempt = async () => {
    const stream = await call();
    return new Promise<BatchGetResponse[]>((resolve, reject) => {
      const responses: BatchGetResponse[] = [];
      stream.on('data', (response: BatchGetResponse) => responses.push(response));
      stream.on('error', reject);
      stream.on('end', () => resolve(responses));
    });
  };
  try {
    return await attemptUntil(deadline, transientPolicy, attempt);
  } catch (reason) {
    throw fromGrpcError(reason);
  }
}
