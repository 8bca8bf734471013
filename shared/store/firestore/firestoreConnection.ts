// The connection to a Firestore database, and the encoding of documents.

import { hash } from 'node:crypto';
import firestore from '@google-cloud/firestore';
import { GoogleAuth, PassThroughClient } from 'google-auth-library';
import { type CallOptions, type ClientOptions, grpc } from 'google-gax';
import { type FieldName, type MutableDocument, setField, storedFieldNames } from '../documentFields.ts';
import type { DocumentChanges, DocumentKey, StoredDocument } from '../store.ts';
import type { CallDeadline } from './call.ts';
import type { calledMethods } from './calledMethods.ts';
import type { CommitLimiter } from './commitLimiter.ts';

export interface FirestoreConnection {
  readonly client: Pick<InstanceType<typeof firestore.v1.FirestoreClient>, (typeof calledMethods)[number] | 'close'>;
  readonly database: string;
  /** The parent path of the collections. */
  readonly parent: string;
  readonly options: CallOptions;
  /** The deadline of the call that this connection serves. */
  readonly deadline?: CallDeadline;
  /** Limits the number of bulk commits in flight. */
  readonly limiter?: CommitLimiter;
}

// The store retries instead of the client, which would retry for ten minutes and does not resume streams.
const noRetries: CallOptions = { retry: null, retryRequestOptions: { retries: 0, noResponseRetries: 0 } };

/**
 * The number of bytes that the server may send before the client acknowledges them. With gRPC's 64 KiB, a stream waits
 * for a round trip every 100 records. An unread stream buffers at most this number.
 */
export const FLOW_CONTROL_WINDOW_BYTES = 2 ** 20;

const channelOptions = {
  'grpc-node.flow_control_window': FLOW_CONTROL_WINDOW_BYTES,
  // By default, the pauses between connection attempts grow to two minutes.
  'grpc.max_reconnect_backoff_ms': 5_000,
};

/**
 * Creates a client of Cloud Firestore or of the emulator. The client connects at its first call.
 * @param emulatorHost the emulator's `host:port`
 */
export function connectFirestore(address: DatabaseAddress, emulatorHost: string | undefined): FirestoreConnection {
  const { projectId, databaseId } = address;
  const database = `projects/${projectId}/databases/${databaseId}`;
  const endpoint = emulatorHost === undefined ? {} : emulatorOptions(emulatorHost);
  return {
    client: new firestore.v1.FirestoreClient({ projectId, ...channelOptions, ...endpoint }),
    database,
    parent: `${database}/documents`,
    options: emulatorHost === undefined ? noRetries : { ...noRetries, otherArgs: { headers: ownerHeader } },
  };
}

// The emulator treats this token as the administrator's. Without the token, it evaluates security rules for each write.
const ownerHeader = { Authorization: 'Bearer owner' };

// Empty credentials prevent the client from searching for a metadata server and printing a warning.
function emulatorOptions(emulatorHost: string): ClientOptions {
  const { hostname, port } = new URL(`http://${emulatorHost}`);
  return {
    servicePath: hostname,
    port: Number(port),
    sslCreds: grpc.credentials.createInsecure(),
    auth: new GoogleAuth({ authClient: new PassThroughClient() }),
  };
}

/** The address of a Firestore database; `databaseId` is `(default)` for the unnamed database. */
export interface DatabaseAddress {
  readonly projectId: string;
  readonly databaseId: string;
}

const PREFIX_LENGTH = '00~'.length;

/**
 * Returns a document's full name. The document's id is prefixed with two hex digits of its hash, which distribute the
 * documents: consecutive ids would create a hot spot.
 */
export function documentName({ parent }: FirestoreConnection, { collection, id }: DocumentKey): string {
  return `${parent}/${collection}/${hash('sha256', id).slice(0, 2)}~${id}`;
}

// The client's package does not export its message types, so these derive from its methods.

type Client = FirestoreConnection['client'];

export type BatchGetRequest = NonNullable<Parameters<Client['batchGetDocuments']>[0]>;
export type QueryRequest = NonNullable<Parameters<Client['runQuery']>[0]>;
export type WriteMessage = NonNullable<NonNullable<NonNullable<Parameters<Client['commit']>[0]>['writes']>[number]>;
export type DocumentMessage = NonNullable<WriteMessage['update']>;
export type ValueMessage = NonNullable<DocumentMessage['fields']>[string];
export type Timestamp = NonNullable<QueryRequest['readTime']>;

/** Encodes the given fields, except `null` fields. */
export function encodeFields(fields: DocumentChanges): Record<string, ValueMessage> {
  const encoded: Record<string, ValueMessage> = {};
  for (const name of storedFieldNames) {
    const value = fields[name];
    if (value !== undefined && value !== null) encoded[name] = encodeValue(value);
  }
  return encoded;
}

function encodeValue(value: string | number | boolean): ValueMessage {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'boolean' ? { booleanValue: value } : { integerValue: value };
}

/** Decodes a document with the fields in `names`. */
export function decodeDocument(message: DocumentMessage, names: readonly FieldName[]): StoredDocument {
  const name = message.name ?? '';
  const document: MutableDocument = { id: name.slice(name.lastIndexOf('/') + 1 + PREFIX_LENGTH) };
  for (const field of names) {
    const value = message.fields?.[field];
    if (value !== undefined) setField(document, field, decodeValue(value));
  }
  return document;
}

// 64-bit integers arrive as text. This service stores only counts that are far below 2^53.
function decodeValue(value: ValueMessage): unknown {
  if (value.integerValue !== undefined && value.integerValue !== null) return Number(value.integerValue);
  return value.stringValue ?? value.booleanValue;
}

/** The number of digits of a time's seconds. Firestore's times end in the year 9999, whose seconds have 12 digits. */
const SECONDS_DIGITS = 12;

/** Returns a document's version: the time of its last change. */
export function encodeVersion({ updateTime }: DocumentMessage): string {
  const { seconds, nanos } = updateTime ?? {};
  return `${String(seconds ?? 0).padStart(SECONDS_DIGITS, '0')}.${String(nanos ?? 0).padStart(9, '0')}`;
}

/** Converts a version back to the time of the last change. */
export function decodeVersion(version: string): Timestamp {
  const [seconds, nanos] = version.split('.').map(Number);
  return { seconds: seconds ?? 0, nanos: nanos ?? 0 };
}
