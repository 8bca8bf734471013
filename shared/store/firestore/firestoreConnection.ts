// The connection to a Firestore database, and the encoding of documents.

import { hash } from 'node:crypto';
import firestore from '@google-cloud/firestore';
import { GoogleAuth, PassThroughClient } from 'google-auth-library';
import { type ClientOptions, grpc } from 'google-gax';
import { type FieldName, type MutableDocument, setField, storedFieldNames } from '../documentFields.ts';
import type { DocumentChanges, DocumentKey, StoredDocument } from '../store.ts';
import type { CallDeadline } from './call.ts';
import type { CommitLimiter } from './commitLimiter.ts';
import type { DocumentMessage, Timestamp } from './messages.ts';

export interface FirestoreConnection {
  /** Google's client, which opens the channel and adds credentials; see `methods.ts`. */
  readonly client: Pick<InstanceType<typeof firestore.v1.FirestoreClient>, 'initialize' | 'firestoreStub' | 'close'>;
  readonly database: string;
  /** The resource name under which all collections are. */
  readonly parent: string;
  /** The additional headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The deadline of the call that this connection serves. */
  readonly deadline?: CallDeadline;
  /** Limits the number of bulk commits in flight. */
  readonly limiter?: CommitLimiter;
}

/**
 * The number of bytes that the server may send before the client acknowledges them. With gRPC's 64 KiB, a stream waits
 * for a round trip every 100 records. An unread stream buffers at most this number.
 */
export const FLOW_CONTROL_WINDOW_BYTES = 2 ** 20;

const channelOptions = {
  'grpc-node.flow_control_window': FLOW_CONTROL_WINDOW_BYTES,
  // Without this limit, the pauses between connection attempts grow to two minutes.
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
    headers: emulatorHost === undefined ? {} : ownerHeader,
  };
}

// The emulator treats a request with this token as the administrator's. Without the token, the emulator evaluates
// security rules for each write.
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
 * Returns a document's full name. Two hex digits of the id's hash precede the id and distribute the documents, because
 * consecutive ids would create a hot spot.
 */
export function documentName({ parent }: FirestoreConnection, { collection, id }: DocumentKey): string {
  return `${parent}/${collection}/${hash('sha256', id).slice(0, 2)}~${id}`;
}

/** Encodes the given fields, except `null` fields. */
export function encodeFields(fields: DocumentChanges): DocumentMessage['fields'] {
  const encoded: DocumentMessage['fields'] = {};
  for (const name of storedFieldNames) {
    const value = fields[name];
    if (value !== undefined && value !== null) encoded[name] = value;
  }
  return encoded;
}

/** Decodes a document with the fields in `names`. */
export function decodeDocument({ name, fields }: DocumentMessage, names: readonly FieldName[]): StoredDocument {
  const document: MutableDocument = { id: name.slice(name.lastIndexOf('/') + 1 + PREFIX_LENGTH) };
  for (const field of names) if (field in fields) setField(document, field, fields[field]);
  return document;
}

/** Returns the paths that select fields in a read. An empty list would select all fields. */
export function selectedPaths(fields: readonly FieldName[]): readonly string[] {
  return fields.length === 0 ? ['__name__'] : fields;
}

/** The number of digits of a time's seconds. Firestore's times end in the year 9999, whose seconds have 12 digits. */
const SECONDS_DIGITS = 12;

/** Returns a document's version: the time of its last change. */
export function encodeVersion({ updateTime }: Pick<DocumentMessage, 'updateTime'>): string {
  const { seconds = 0, nanos = 0 } = updateTime ?? {};
  return `${String(seconds).padStart(SECONDS_DIGITS, '0')}.${String(nanos).padStart(9, '0')}`;
}

/** Converts a version back to the time of the last change. */
export function decodeVersion(version: string): Timestamp {
  const [seconds, nanos] = version.split('.').map(Number);
  return { seconds: seconds ?? 0, nanos: nanos ?? 0 };
}
