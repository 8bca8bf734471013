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
  /**
   * Google's client. It opens the connection and adds the credentials; `methods.ts` describes why its own methods are
   * not used.
   */
  readonly client: Pick<InstanceType<typeof firestore.v1.FirestoreClient>, 'initialize' | 'firestoreStub' | 'close'>;
  readonly database: string;
  readonly parent: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly deadline?: CallDeadline;
  readonly limiter?: CommitLimiter;
}

/**
 * The number of bytes that the server may send before the client has read them. With gRPC's default of 64 KiB, a stream
 * would wait for a round trip after every 100 records. A stream that is not read occupies at most this number of bytes
 * in memory.
 */
export const FLOW_CONTROL_WINDOW_BYTES = 2 ** 20;

const channelOptions = {
  'grpc-node.flow_control_window': FLOW_CONTROL_WINDOW_BYTES,
  // Without this option, the pauses between attempts to connect would grow to two minutes.
  'grpc.max_reconnect_backoff_ms': 5_000,
};

/**
 * Creates a client of Cloud Firestore, or of the emulator if there is one. The client connects at its first call.
 * @param emulatorHost the emulator's `host:port`; undefined for Cloud Firestore
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

// The emulator accepts this token as the administrator's. Without it, the emulator would evaluate security rules for
// each write.
const ownerHeader = { Authorization: 'Bearer owner' };

// Returns options with empty credentials, so that Google's client does not search for a metadata server and print a
// warning.
function emulatorOptions(emulatorHost: string): ClientOptions {
  const { hostname, port } = new URL(`http://${emulatorHost}`);
  return {
    servicePath: hostname,
    port: Number(port),
    sslCreds: grpc.credentials.createInsecure(),
    auth: new GoogleAuth({ authClient: new PassThroughClient() }),
  };
}

/** The id of the unnamed database is `(default)`. */
export interface DatabaseAddress {
  readonly projectId: string;
  readonly databaseId: string;
}

const PREFIX_LENGTH = '00~'.length;

/**
 * Returns the name of a document in Firestore. Consecutive ids would create a hot spot, so two hex digits of the id's
 * hash precede the id.
 */
export function documentName({ parent }: FirestoreConnection, { collection, id }: DocumentKey): string {
  return `${parent}/${collection}/${hash('sha256', id).slice(0, 2)}~${id}`;
}

/** Encodes the fields of a document. Omits `null` fields, so that a write removes them. */
export function encodeFields(fields: DocumentChanges): DocumentMessage['fields'] {
  const encoded: DocumentMessage['fields'] = {};
  for (const name of storedFieldNames) {
    const value = fields[name];
    if (value !== undefined && value !== null) encoded[name] = value;
  }
  return encoded;
}

export function decodeDocument({ name, fields }: DocumentMessage, names: readonly FieldName[]): StoredDocument {
  const document: MutableDocument = { id: name.slice(name.lastIndexOf('/') + 1 + PREFIX_LENGTH) };
  for (const field of names) if (field in fields) setField(document, field, fields[field]);
  return document;
}

/**
 * Returns the paths of the fields to read. Never returns an empty list, because Firestore would then read all fields.
 */
export function selectedPaths(fields: readonly FieldName[]): readonly string[] {
  return fields.length === 0 ? ['__name__'] : fields;
}

/**
 * The width of the seconds in a version. Firestore's times end in the year 9999. The seconds since 1970 then have 12
 * digits.
 */
const SECONDS_DIGITS = 12;

/** Returns the version of a document, which is the time of its last change as a text. */
export function encodeVersion({ updateTime }: Pick<DocumentMessage, 'updateTime'>): string {
  const { seconds = 0, nanos = 0 } = updateTime ?? {};
  return `${String(seconds).padStart(SECONDS_DIGITS, '0')}.${String(nanos).padStart(9, '0')}`;
}

export function decodeVersion(version: string): Timestamp {
  const [seconds, nanos] = version.split('.').map(Number);
  return { seconds: seconds ?? 0, nanos: nanos ?? 0 };
}
