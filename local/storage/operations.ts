import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { rangeNotSatisfiable, uploadNotImplemented } from './googleError.ts';
import type { Guard, ObjectFiles, StoredObject } from './objectFiles.ts';
import { etag, metageneration, preconditions, type Route, requireObject, resource } from './resource.ts';
import { type Progress, type ResumableUploads, readUploadRequest, type UploadRequest } from './resumable.ts';

/** A request with everything that its operation needs. */
export interface Exchange {
  readonly route: Route;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly origin: string;
  readonly files: ObjectFiles;
  readonly uploads: ResumableUploads;
  /** Throws if the caller may not replace the object, which takes the permission to delete it. */
  readonly mayReplace: Guard;
}

/** Serves objects.get: the metadata, or with `alt=media` the bytes. */
export async function getObject({ route, request, response, files, origin }: Exchange): Promise<void> {
  const object = requireObject(await files.find(route.bucket, route.object), route, route.query);
  preconditions(route.query)(object);
  if (route.query.get('alt') === 'media') await download(files, object, request, response);
  else sendJson(response, 200, resource(object, origin));
}

/** Serves objects.list, in one page. */
export async function listObjects({ route, response, files, origin }: Exchange): Promise<void> {
  const found = await files.list(route.bucket, route.query.get('prefix') ?? '');
  sendJson(response, 200, { kind: 'storage#objects', items: found.map((object) => resource(object, origin)) });
}

/** Serves objects.delete. */
export async function deleteObject({ route, response, files }: Exchange): Promise<void> {
  await files.remove(route.bucket, route.object, (present) => {
    preconditions(route.query)(requireObject(present, route, route.query));
  });
  response.writeHead(204).end();
}

/** Serves objects.insert: starts the session of a resumable upload. */
export async function insertObject(exchange: Exchange): Promise<void> {
  const uploadType = exchange.route.query.get('uploadType') ?? 'media';
  if (uploadType !== 'resumable') throw uploadNotImplemented(uploadType);
  const { route, request, response, uploads, origin } = exchange;
  const type = getHeader(request, 'x-upload-content-type');
  const upload: UploadRequest = readUploadRequest(route.bucket, route.query, await text(request), type);
  const id = await uploads.start(upload, createGuard(exchange));
  const bucket = encodeURIComponent(route.bucket);
  const location = `${origin}/upload/storage/v1/b/${bucket}/o?uploadType=resumable&upload_id=${id}`;
  response.writeHead(200, { location, 'content-length': 0, 'x-guploader-uploadid': id }).end();
}

/** Receives a chunk of a session, or reports the session's progress. */
export async function putChunk({ request, response, uploads, origin }: Exchange, id: string): Promise<void> {
  const progress: Progress = await uploads.put(id, request);
  if ('object' in progress) return sendJson(response, 200, resource(progress.object, origin));
  const range = progress.persisted === 0 ? {} : { range: `bytes=0-${progress.persisted - 1}` };
  response.writeHead(308, { ...range, 'content-length': 0 }).end();
}

/** Cancels a session, with Cloud Storage's status 499. */
export async function cancelSession({ response, uploads }: Exchange, id: string): Promise<void> {
  await uploads.cancel(id);
  response.writeHead(499, { 'content-length': 0 }).end();
}

function createGuard({ route, mayReplace }: Exchange): Guard {
  const checkPreconditions = preconditions(route.query);
  return (present) => {
    checkPreconditions(present);
    mayReplace(present);
  };
}

function getHeader(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}

/** Sends an object's bytes, or the part that the Range header selects. */
async function download(
  files: ObjectFiles,
  object: StoredObject,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const range = parseRange(request.headers.range, object.size);
  const [start, end] = range ?? [0, object.size - 1];
  response.writeHead(range === undefined ? 200 : 206, {
    ...objectHeaders(object),
    'content-length': end - start + 1,
    ...(range === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${object.size}` }),
  });
  if (object.size === 0) response.end();
  else await pipeline(files.read(object, start, end), response);
}

function objectHeaders(object: StoredObject): Record<string, string> {
  return {
    'content-type': object.contentType,
    ...(object.contentEncoding === undefined ? {} : { 'content-encoding': object.contentEncoding }),
    'accept-ranges': 'bytes',
    etag: etag(object),
    'last-modified': new Date(object.timeCreated).toUTCString(),
    'x-goog-generation': object.generation,
    'x-goog-metageneration': metageneration,
    'x-goog-hash': `crc32c=${object.crc32c},md5=${object.md5Hash}`,
    'x-goog-storage-class': 'STANDARD',
    'x-goog-stored-content-length': String(object.size),
    'x-goog-stored-content-encoding': object.contentEncoding ?? 'identity',
  };
}

// Returns the first and last byte; undefined without a range, or with one that HTTP lets a server ignore.
function parseRange(header: string | undefined, size: number): [number, number] | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(size - 1, Number(last));
  if (start > end) throw rangeNotSatisfiable();
  return [start, end];
}
