import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Access, type Account } from './access.ts';
import { serveMetadata, signBlob } from './account.ts';
import { noSuchBucket, notImplemented, sendError, sendJson } from './googleError.ts';
import { type ObjectFiles, openObjectFiles } from './objectFiles.ts';
import {
  cancelSession,
  deleteObject,
  type Exchange,
  getObject,
  getSigned,
  insertObject,
  parseRoute,
  parseSignedRoute,
  putChunk,
} from './operations.ts';
import { createResumableUploads, type ResumableUploads } from './resumable.ts';
import { isSigned, verifySignedUrl } from './signedUrl.ts';

export interface StorageServerOptions {
  /** The directory of the objects. Objects survive a restart. */
  readonly directory: string;
  /** The port to listen on; 0 selects a free port. */
  readonly port: number;
  readonly account: Account;
  readonly bucket: string;
  /** The clock that decides whether a signed URL has expired. If absent, the system's clock. */
  readonly now?: () => Date;
}

export interface RunningStorage {
  /** The server's base URL without a slash at the end. It is the value for STORAGE_EMULATOR_HOST. */
  readonly url: string;
  close(): Promise<void>;
}

interface Service {
  readonly access: Access;
  readonly account: Account;
  readonly bucket: string;
  readonly now: () => Date;
  readonly files: ObjectFiles;
  readonly uploads: ResumableUploads;
}

/**
 * Starts a local stand-in for Cloud Storage on 127.0.0.1. It serves the requests of the JSON API that exports and
 * imports send, signed downloads, the token endpoint, the metadata server and `signBlob`. It checks tokens, scopes,
 * signatures, generations, preconditions, sizes and CRC32C as Google does. It does not check roles. Web pages of all
 * origins may read signed downloads, as with permissive CORS settings of a bucket.
 */
export async function startStorage({
  directory,
  port,
  account,
  bucket,
  now = () => new Date(),
}: StorageServerOptions): Promise<RunningStorage> {
  const files = await openObjectFiles(directory);
  const uploads = createResumableUploads(files);
  const service = { access: new Access(account), account, bucket, now, files, uploads };
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    handle(service, request, response).catch((error: unknown) => {
      request.resume();
      sendError(response, error, isSigned(request) ? 'xml' : 'json');
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
    const { status, body } = access.issueToken(new URLSearchParams(await text(request)));
    return sendJson(response, status, body);
  }
  if (serveMetadata(access, service.account, request.url ?? '', response)) return;
  if (await signBlob(access, service.account, request, response)) return;
  if (isSigned(request)) return await serveSigned(service, request, response, origin);
  const route = parseRoute(request.url ?? '');
  const exchange = { ...service, route, request, response, origin };
  const session = route.kind === 'upload' ? route.query.get('upload_id') : null;
  if (session !== null) return await handleSession(exchange, session);
  access.authenticate(request.headers.authorization, request.method === 'GET' ? 'read' : 'write');
  const run = handlers[`${request.method} ${route.kind}`];
  if (run === undefined) throw notImplemented();
  if (route.bucket !== bucket) throw noSuchBucket();
  await run(exchange);
}

async function serveSigned(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
): Promise<void> {
  if (permitOrigin(request, response, request.headers.origin && '*')) return;
  verifySignedUrl(request, service.account, service.now());
  const route = parseSignedRoute(request.url ?? '');
  if (route.bucket !== service.bucket) throw noSuchBucket();
  await getSigned({ ...service, route, request, response, origin });
}

/**
 * Sets the CORS headers if an origin is permitted. If the request is a CORS preflight, answers the request and returns
 * true.
 */
function permitOrigin(request: IncomingMessage, response: ServerResponse, permitted: string | undefined): boolean {
  if (permitted !== undefined)
    response
      .setHeader('access-control-allow-origin', permitted)
      .setHeader('access-control-allow-methods', 'GET, PUT')
      .setHeader('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '')
      .setHeader('access-control-expose-headers', 'Content-Length, Content-Type, Range');
  if (request.method !== 'OPTIONS') return false;
  response.writeHead(200, { 'content-length': 0 }).end();
  return true;
}

// The address of an upload is secret, so requests with this address need no token.
async function handleSession(exchange: Exchange, id: string): Promise<void> {
  const { request, response, uploads } = exchange;
  const origin = uploads.origin(id);
  if (permitOrigin(request, response, origin === request.headers.origin ? origin : undefined)) return;
  if (exchange.request.method === 'PUT') return await putChunk(exchange, id);
  if (exchange.request.method === 'DELETE') return await cancelSession(exchange, id);
  throw notImplemented();
}

const handlers: Readonly<Record<string, (exchange: Exchange) => Promise<void>>> = {
  'GET object': getObject,
  'DELETE object': deleteObject,
  'POST upload': insertObject,
};
