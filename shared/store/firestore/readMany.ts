import type { CancellableStream } from 'google-gax';
import { retry } from '../../retry.ts';
import type { FieldName } from '../documentFields.ts';
import type { DocumentKey, StoredDocument } from '../store.ts';
import {
  type BatchGetRequest,
  type DocumentMessage,
  documentName,
  type FirestoreConnection,
  type Timestamp,
  type TransactionId,
} from './connection.ts';
import { toStoreError, transientPolicy } from './status.ts';
import { decodeDocument } from './values.ts';

/** The state to read: at a read time, in a transaction, or in a new transaction. Empty for the latest state. */
export type ReadState = Pick<BatchGetRequest, 'readTime' | 'transaction' | 'newTransaction'>;

/** Documents in the order of their keys, and the state for further reads to see the same data. */
export interface ReadResult {
  readonly documents: (StoredDocument | undefined)[];
  readonly state: ReadState;
  readonly readTime: Timestamp | undefined;
}

interface BatchGetResponse {
  readonly found?: DocumentMessage | null;
  readonly transaction?: TransactionId | null;
  readonly readTime?: Timestamp | null;
}

// Keeps a request with the longest ids below the emulator's limit of 4 MiB.
const NAMES_PER_REQUEST = 2_000;

/**
 * Reads documents by their keys.
 * @param start the state to read; the latest by default
 */
export async function readMany(
  connection: FirestoreConnection,
  keys: readonly DocumentKey[],
  fields: readonly FieldName[] | undefined,
  start: ReadState = {},
): Promise<ReadResult> {
  const names = keys.map((key) => documentName(connection.address, key));
  const distinct = [...new Set(names)];
  const found = new Map<string, StoredDocument>();
  let state = start;
  let readTime: Timestamp | undefined;
  for (let from = 0; from < distinct.length; from += NAMES_PER_REQUEST) {
    const documents = distinct.slice(from, from + NAMES_PER_REQUEST);
    for (const response of await batchGet(connection, { documents, ...fieldMask(fields), ...state })) {
      if (response.found) found.set(response.found.name ?? '', decodeDocument(response.found, fields));
      if (response.transaction && response.transaction.length > 0) state = { transaction: response.transaction };
      readTime = response.readTime ?? readTime;
    }
  }
  return { documents: names.map((name) => found.get(name)), state, readTime };
}

// An empty mask would select all fields.
function fieldMask(fields: readonly FieldName[] | undefined): Pick<BatchGetRequest, 'mask'> {
  if (fields === undefined) return {};
  return { mask: { fieldPaths: fields.length === 0 ? ['__name__'] : [...fields] } };
}

async function batchGet(
  { client, database, options }: FirestoreConnection,
  request: BatchGetRequest,
): Promise<BatchGetResponse[]> {
  try {
    return await retry(transientPolicy, () => collect(client.batchGetDocuments({ database, ...request }, options)));
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
