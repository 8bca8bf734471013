import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { AccessControl, type Account, type Permission } from './access.ts';
import { notImplemented, sendError, sendJson } from './googleError.ts';
import { type ObjectFiles, openObjectFiles } from './objectFiles.ts';
import {
  cancelSession,
  deleteObject,
  type Exchange,
  getObject,
  insertObject,
  parseRoute,
  putChunk,
  type Route,
} from './operations.ts';
import { createResumableUploads, type ResumableUploads } from './resumable.ts';

/** The settings of a Cloud Storage stand-in. */
export interface StorageOptions {
  /** The directory of the objects, which survive a restart. */
  readonly directory: string;
  /** The port to listen on; 0 picks a free one. */
  readonly port: number;
  /** The known accounts. Exactly the buckets that they name exist. */
  readonly accounts: readonly Account[];
}

/** A running stand-in. */
export interface RunningStorage {
  /** The value for STORAGE_EMULATOR_HOST, without a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

interface Service {
  readonly access: AccessControl;
  readonly files: ObjectFiles;
  readonly uploads: ResumableUploads;
}

/**
 * Starts a local stand-in for Cloud Storage on 127.0.0.1. It serves the part of the JSON API that exports and imports use,
 * to write, read and remove objects, and the token endpoint. Tokens, roles, generations, preconditions and CRC32C are
 * checked as by Google.
 */
export async function startStorage({ directory, port, accounts }: StorageOptions): Promise<RunningStorage> {
  const files = await openObjectFiles(directory);
  const service = { access: new AccessControl(accounts), files, uploads: createResumableUploads(files) };
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
  const { access } = service;
  const origin = `http://${request.headers.host ?? '127.0.0.1'}`;
  if (request.method === 'POST' && request.url === '/token') {
    const { status, body } = access.issueToken(new URLSearchParams(await text(request)), origin);
    return sendJson(response, status, body);
  }
  const route = parseRoute(request.url ?? '');
  const exchange = { ...service, route, request, response, origin, mayReplace: () => {} };
  const session = route.kind === 'upload' ? route.query.get('upload_id') : null;
  if (session !== null) return await handleSession(exchange, session);
  const caller = access.authenticate(request.headers.authorization, origin);
  const { permission, run } = findOperation(request.method ?? '', route);
  access.authorise(caller, permission, route.bucket);
  await run({
    ...exchange,
    mayReplace: (present) => {
      if (present !== undefined) access.authorise(caller, 'storage.objects.delete', route.bucket);
    },
  });
}

// A session's address proves the permission, so requests to it need no token.
async function handleSession(exchange: Exchange, id: string): Promise<void> {
  if (exchange.request.method === 'PUT') return await putChunk(exchange, id);
  if (exchange.request.method === 'DELETE') return await cancelSession(exchange, id);
  throw notImplemented();
}

interface Operation {
  readonly permission: Permission;
  readonly run: (exchange: Exchange) => Promise<void>;
}

const operations: Readonly<Record<string, Operation>> = {
  'GET object': { permission: 'storage.objects.get', run: getObject },
  'DELETE object': { permission: 'storage.objects.delete', run: deleteObject },
  'POST upload': { permission: 'storage.objects.create', run: insertObject },
};

function findOperation(method: string, { kind }: Route): Operation {
  const operation = operations[`${method} ${kind}`];
  if (operation === undefined) throw notImplemented();
  return operation;
}
