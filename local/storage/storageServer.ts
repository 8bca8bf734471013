// The server of the stand-in for Cloud Storage.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Access, type Account } from './access.ts';
import { noSuchBucket, notImplemented, sendError, sendJson } from './googleError.ts';
import { type ObjectFiles, openObjectFiles } from './objectFiles.ts';
import {
  cancelSession,
  deleteObject,
  type Exchange,
  getObject,
  insertObject,
  parseRoute,
  putChunk,
} from './operations.ts';
import { createResumableUploads, type ResumableUploads } from './resumable.ts';

/** The settings of a Cloud Storage stand-in. */
export interface StorageServerOptions {
  /** The directory of the objects, which survive a restart. */
  readonly directory: string;
  /** The port to listen on; 0 picks a free one. */
  readonly port: number;
  /** The only account, which may do everything. */
  readonly account: Account;
  /** The only bucket. */
  readonly bucket: string;
}

/** A running stand-in. */
export interface RunningStorage {
  /** The value for STORAGE_EMULATOR_HOST, without a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

interface Service {
  readonly access: Access;
  readonly bucket: string;
  readonly files: ObjectFiles;
  readonly uploads: ResumableUploads;
}

/**
 * Starts a local stand-in for Cloud Storage on 127.0.0.1. It serves the part of the JSON API that exports and imports use,
 * to write, read and remove objects, and the token endpoint. Tokens, generations, preconditions and CRC32C are checked as
 * by Google; roles and scopes are not.
 */
export async function startStorage({
  directory,
  port,
  account,
  bucket,
}: StorageServerOptions): Promise<RunningStorage> {
  const files = await openObjectFiles(directory);
  const service = { access: new Access(account), bucket, files, uploads: createResumableUploads(files) };
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    handle(service, request, response).catch((error: unknown) => {
      request.resume();
      sendError(response, error);
    });
  });
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject).listen(port, '127.0.0.1', listening.resolve);
  await listening.promise;
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${actual}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await service.uploads.close();
    },
  };
}

async function handle(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { access, bucket } = service;
  const origin = `http://${request.headers.host ?? '127.0.0.1'}`;
  if (request.method === 'POST' && request.url === '/token') {
    const { status, body } = access.issueToken(new URLSearchParams(await text(request)), `${origin}/token`);
    return sendJson(response, status, body);
  }
  const route = parseRoute(request.url ?? '');
  const exchange = { ...service, route, request, response, origin };
  const session = route.kind === 'upload' ? route.query.get('upload_id') : null;
  if (session !== null) return await handleSession(exchange, session);
  access.authenticate(request.headers.authorization);
  const run = handlers[`${request.method} ${route.kind}`];
  if (run === undefined) throw notImplemented();
  if (route.bucket !== bucket) throw noSuchBucket();
  await run(exchange);
}

// A session's address is a credential, so requests to it need no token.
async function handleSession(exchange: Exchange, id: string): Promise<void> {
  if (exchange.request.method === 'PUT') return await putChunk(exchange, id);
  if (exchange.request.method === 'DELETE') return await cancelSession(exchange, id);
  throw notImplemented();
}

const handlers: Readonly<Record<string, (exchange: Exchange) => Promise<void>>> = {
  'GET object': getObject,
  'DELETE object': deleteObject,
  'POST upload': insertObject,
};
