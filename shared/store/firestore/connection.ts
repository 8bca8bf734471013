import firestore from '@google-cloud/firestore';
import { GoogleAuth, PassThroughClient } from 'google-auth-library';
import { type CallOptions, type ClientOptions, grpc } from 'google-gax';
import type { DocumentKey } from '../store.ts';

/** A connection to one database. */
export interface FirestoreConnection {
  readonly client: InstanceType<typeof firestore.v1.FirestoreClient>;
  readonly address: DatabaseAddress;
  /** The database's path, and the parent of its collections. */
  readonly database: string;
  readonly parent: string;
  /** What every call takes. */
  readonly options: CallOptions;
}

// All trying again is ours: the client's goes on for ten minutes, and not in the middle of a stream.
const noRetries: CallOptions = { retry: null, retryRequestOptions: { retries: 0, noResponseRetries: 0 } };

/** Makes the generated client of Cloud Firestore, or of the emulator at `emulatorHost` (`host:port`). Connects at the first call. */
export function connect(address: DatabaseAddress, emulatorHost: string | undefined): FirestoreConnection {
  const { projectId } = address;
  const place = emulatorHost === undefined ? {} : emulatorOptions(emulatorHost);
  return {
    client: new firestore.v1.FirestoreClient({ projectId, ...place }),
    address,
    database: databasePath(address),
    parent: documentsPath(address),
    options: emulatorHost === undefined ? noRetries : { ...noRetries, otherArgs: { headers: ownerHeader } },
  };
}

// The emulator takes this for the administrator; without it, it evaluates security rules for each write.
const ownerHeader = { Authorization: 'Bearer owner' };

// With a client that has no credentials, nothing looks for a metadata server and warns that there is none.
function emulatorOptions(emulatorHost: string): ClientOptions {
  const { hostname, port } = new URL(`http://${emulatorHost}`);
  return {
    servicePath: hostname,
    port: Number(port),
    sslCreds: grpc.credentials.createInsecure(),
    auth: new GoogleAuth({ authClient: new PassThroughClient() }),
  };
}

/** Which database of Cloud Firestore: `databaseId` is `(default)` for the one that needs no name. */
export interface DatabaseAddress {
  readonly projectId: string;
  readonly databaseId: string;
}

/** A database's path, `projects/…/databases/…`. */
function databasePath({ projectId, databaseId }: DatabaseAddress): string {
  return `projects/${projectId}/databases/${databaseId}`;
}

/** The parent of all collections. */
function documentsPath(address: DatabaseAddress): string {
  return `${databasePath(address)}/documents`;
}

/** A document's full name. */
export function documentName(address: DatabaseAddress, { collection, id }: DocumentKey): string {
  return `${documentsPath(address)}/${collection}/${id}`;
}

// The client's package does not export the types of its messages by name, so they are taken off its methods.

type Client = FirestoreConnection['client'];

/** Parameters of the call `BatchGetDocuments`. */
export type BatchGetRequest = NonNullable<Parameters<Client['batchGetDocuments']>[0]>;
/** Parameters of the call `RunQuery`. */
export type QueryRequest = NonNullable<Parameters<Client['runQuery']>[0]>;
/** One write of a commit. */
export type WriteMessage = NonNullable<NonNullable<NonNullable<Parameters<Client['commit']>[0]>['writes']>[number]>;
/** A stored document. */
export type DocumentMessage = NonNullable<WriteMessage['update']>;
/** A field's value. */
export type ValueMessage = NonNullable<DocumentMessage['fields']>[string];
/** A moment as the server tells it. */
export type Timestamp = NonNullable<QueryRequest['readTime']>;
/** A transaction's id. */
export type TransactionId = NonNullable<BatchGetRequest['transaction']>;
