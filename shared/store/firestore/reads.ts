import type { CancellableStream } from 'google-gax';
import type { FieldName } from '../documentFields.ts';
import type { Collection, DocumentKey } from '../store.ts';
import type { VersionedDocuments } from '../transaction.ts';
import { attemptUntil, toStoreError, transientPolicy } from './call.ts';
import {
  type BatchGetRequest,
  type DocumentMessage,
  decodeDocument,
  documentName,
  encodeVersion,
  type FirestoreConnection,
  type Timestamp,
  type ValueMessage,
} from './connection.ts';

/** The documents, their versions, and the time of the state that was read. */
export interface ReadResult extends VersionedDocuments {
  readonly readTime: Timestamp | undefined;
}

interface BatchGetResponse {
  readonly found?: DocumentMessage | null;
  readonly readTime?: Timestamp | null;
}

// Keeps a request with the longest ids below the emulator's limit of 4 MiB.
const NAMES_PER_REQUEST = 2_000;

/**
 * Reads documents by their keys.
 * @param at the moment whose state is read; the latest by default
 */
export async function readMany(
  connection: FirestoreConnection,
  keys: readonly DocumentKey[],
  fields: readonly FieldName[] | undefined,
  at: Pick<BatchGetRequest, 'readTime'> = {},
): Promise<ReadResult> {
  const names = keys.map((key) => documentName(connection.address, key));
  const distinct = [...new Set(names)];
  const found = new Map<string, DocumentMessage>();
  let readTime: Timestamp | undefined;
  for (let from = 0; from < distinct.length; from += NAMES_PER_REQUEST) {
    const documents = distinct.slice(from, from + NAMES_PER_REQUEST);
    for (const response of await batchGet(connection, { documents, ...fieldMask(fields), ...at })) {
      if (response.found) found.set(response.found.name ?? '', response.found);
      readTime = response.readTime ?? readTime;
    }
  }
  const messages = names.map((name) => found.get(name));
  return {
    documents: messages.map((message) => message && decodeDocument(message, fields)),
    versions: messages.map((message) => message && encodeVersion(message)),
    readTime,
  };
}

// An empty mask would select all fields.
function fieldMask(fields: readonly FieldName[] | undefined): Pick<BatchGetRequest, 'mask'> {
  if (fields === undefined) return {};
  return { mask: { fieldPaths: fields.length === 0 ? ['__name__'] : [...fields] } };
}

async function batchGet(
  { client, database, options, deadline }: FirestoreConnection,
  request: BatchGetRequest,
): Promise<BatchGetResponse[]> {
  try {
    return await attemptUntil(deadline, transientPolicy, () =>
      collect(client.batchGetDocuments({ database, ...request }, options)),
    );
  } catch (reason) {
    throw toStoreError(reason);
  }
}

// Uses events, because awaiting each document would take longer than reading it.
function collect(stream: CancellableStream): Promise<BatchGetResponse[]> {
  return new Promise((resolve, reject) => {
    const responses: BatchGetResponse[] = [];
    stream.on('data', (response: BatchGetResponse) => responses.push(response));
    stream.on('error', reject);
    stream.on('end', () => resolve(responses));
  });
}

interface CountResponse {
  readonly result?: { readonly aggregateFields?: Readonly<Record<string, ValueMessage>> | null } | null;
}

/** Counts a collection's documents, up to `limit`. Billed as one read for each thousand. */
export async function countDocuments(
  { client, parent, options, deadline }: FirestoreConnection,
  collection: Collection,
  limit: number,
): Promise<number> {
  const structuredAggregationQuery = {
    structuredQuery: { from: [{ collectionId: collection }] },
    aggregations: [{ alias: 'documents', count: { upTo: { value: limit } } }],
  };
  try {
    return await attemptUntil(deadline, transientPolicy, () =>
      readCount(client.runAggregationQuery({ parent, structuredAggregationQuery }, options)),
    );
  } catch (reason) {
    throw toStoreError(reason);
  }
}

function readCount(stream: CancellableStream): Promise<number> {
  return new Promise((resolve, reject) => {
    let count: number | undefined;
    stream.on('data', ({ result }: CountResponse) => {
      count = Number(result?.aggregateFields?.documents?.integerValue ?? count);
    });
    stream.on('error', reject);
    stream.on('end', () =>
      count === undefined ? reject(new Error('the database returned no number of documents')) : resolve(count),
    );
  });
}
