// The methods of Firestore's API that the store calls. They use the connection of Google's client, but not the methods
// of Google's client, which pass each document through two further streams.

import type { Readable } from 'node:stream';
import { grpc } from 'google-gax';
import type { FirestoreConnection } from './firestoreConnection.ts';
import {
  type BatchGetRequest,
  type BatchGetResponse,
  type DocumentMessage,
  decodeBatchGetResponse,
  decodeDocumentMessage,
  decodeQueryResponse,
  encodeBatchGet,
  encodeGet,
  encodeQueryRequest,
  type GetRequest,
  type QueryRequest,
  type QueryResponse,
} from './messages.ts';

export type ResponseStream = Readable & { cancel(): void };

interface Method<Request, Response> {
  readonly name: string;
  readonly encode: (request: Request) => Buffer;
  readonly decode: (bytes: Buffer) => Response;
  /** Returns the name and the value of the parameter by which Google routes the request. */
  readonly route: (request: Request, connection: FirestoreConnection) => readonly [string, string];
  readonly timeoutMs: number;
}

const commitMethod: Method<Buffer, undefined> = {
  name: 'Commit',
  encode: (request) => request,
  // Do not decode the response. It contains only times, which the store does not use.
  decode: () => undefined,
  route: (_request, { database }) => ['database', database],
  timeoutMs: 60_000,
};

const getMethod: Method<GetRequest, DocumentMessage> = {
  name: 'GetDocument',
  encode: encodeGet,
  decode: decodeDocumentMessage,
  route: ({ name }) => ['name', name],
  timeoutMs: 60_000,
};

const batchGetMethod: Method<BatchGetRequest, BatchGetResponse> = {
  name: 'BatchGetDocuments',
  encode: encodeBatchGet,
  decode: decodeBatchGetResponse,
  route: ({ database }) => ['database', database],
  timeoutMs: 300_000,
};

const queryMethod: Method<QueryRequest, QueryResponse> = {
  name: 'RunQuery',
  encode: encodeQueryRequest,
  decode: decodeQueryResponse,
  route: ({ parent }) => ['parent', parent],
  timeoutMs: 300_000,
};

/** @param request an encoded commit */
export async function commitWrites(connection: FirestoreConnection, request: Buffer): Promise<void> {
  await call(connection, commitMethod, request);
}

/** @throws the gRPC error NOT_FOUND if the document is missing */
export async function getDocument(connection: FirestoreConnection, request: GetRequest): Promise<DocumentMessage> {
  const document = await call(connection, getMethod, request);
  if (document === undefined) throw new Error('the database returned no document');
  return document;
}

export function batchGetDocuments(connection: FirestoreConnection, request: BatchGetRequest): Promise<ResponseStream> {
  return openStream(connection, batchGetMethod, request);
}

export function runQuery(connection: FirestoreConnection, request: QueryRequest): Promise<ResponseStream> {
  return openStream(connection, queryMethod, request);
}

async function call<Request, Response>(
  connection: FirestoreConnection,
  method: Method<Request, Response>,
  request: Request,
): Promise<Response | undefined> {
  const channel = await channelOf(connection);
  const { path, metadata, options } = describeCall(connection, method, request);
  return new Promise((resolve, reject) => {
    channel.makeUnaryRequest(path, method.encode, method.decode, request, metadata, options, (error, response) =>
      error === null ? resolve(response) : reject(error),
    );
  });
}

async function openStream<Request, Response>(
  connection: FirestoreConnection,
  method: Method<Request, Response>,
  request: Request,
): Promise<ResponseStream> {
  const channel = await channelOf(connection);
  // After an abort, do not open a stream, because no caller would read it. The stream would stay open, and its error
  // would end the process.
  connection.deadline?.cut.throwIfAborted();
  const { path, metadata, options } = describeCall(connection, method, request);
  return channel.makeServerStreamRequest(path, method.encode, method.decode, request, metadata, options);
}

async function channelOf({ client }: FirestoreConnection): Promise<grpc.Client> {
  const channel = await client.initialize().catch((error: unknown) => {
    // Remove the result of the failed attempt, because the client would otherwise use this result in all later calls.
    delete client.firestoreStub;
    throw error;
  });
  if (!(channel instanceof grpc.Client)) throw new Error('the client of Firestore does not use gRPC');
  return channel;
}

function describeCall<Request>(
  connection: FirestoreConnection,
  { name, route, timeoutMs }: Method<Request, unknown>,
  request: Request,
) {
  const metadata = new grpc.Metadata();
  for (const [header, value] of Object.entries(connection.headers)) metadata.set(header, value);
  const [parameter, value] = route(request, connection);
  metadata.set('x-goog-request-params', `${parameter}=${encodeURIComponent(value)}`);
  return {
    path: `/google.firestore.v1.Firestore/${name}`,
    metadata,
    options: { deadline: Date.now() + timeoutMs },
  };
}
