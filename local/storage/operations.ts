import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { defined } from '../../shared/defined.ts';
import {
  conditionNotMet,
  invalid,
  noSuchObject,
  notImplemented,
  rangeNotSatisfiable,
  sendJson,
  uploadNotImplemented,
} from './googleError.ts';
import type { ObjectFiles, ObjectPrecondition, StoredObject } from './objectFiles.ts';
import { type ResumableUploads, readUploadRequest, type UploadProgress, type UploadRequest } from './resumable.ts';

export interface Exchange {
  readonly route: ObjectRoute;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly origin: string;
  readonly files: ObjectFiles;
  readonly uploads: ResumableUploads;
}

export async function getObject({ route, request, response, files, origin }: Exchange): Promise<void> {
  const object = requireObject(await files.find(route.bucket, route.object), route, route.query);
  preconditions(route.query)(object);
  if (route.query.get('alt') === 'media') await download(files, object, request, response);
  else sendJson(response, 200, resource(object, origin));
}

/** Sends the bytes of an object for a signed URL of the XML API: `/bucket/object`. */
export async function getSigned({ route, request, response, files }: Exchange): Promise<void> {
  const object = requireObject(await files.find(route.bucket, route.object), route, route.query);
  await download(files, object, request, response);
}

export async function deleteObject({ route, response, files }: Exchange): Promise<void> {
  await files.remove(route.bucket, route.object, (present) => {
    preconditions(route.query)(requireObject(present, route, route.query));
  });
  response.writeHead(204).end();
}

/** Serves `objects.insert`: starts a resumable upload. */
export async function insertObject(exchange: Exchange): Promise<void> {
  const uploadType = exchange.route.query.get('uploadType') ?? 'media';
  if (uploadType !== 'resumable') throw uploadNotImplemented(uploadType);
  const { route, request, response, uploads, origin } = exchange;
  const upload: UploadRequest = readUploadRequest(route.bucket, route.query, await text(request), {
    contentType: getHeader(request, 'x-upload-content-type'),
    size: getHeader(request, 'x-upload-content-length'),
    origin: request.headers.origin,
  });
  const id = await uploads.start(upload, preconditions(route.query));
  const bucket = encodeURIComponent(route.bucket);
  const location = `${origin}/upload/storage/v1/b/${bucket}/o?uploadType=resumable&upload_id=${id}`;
  response.writeHead(200, { location, 'content-length': 0, 'x-guploader-uploadid': id }).end();
}

export async function putChunk({ request, response, uploads, origin }: Exchange, id: string): Promise<void> {
  const progress: UploadProgress = await uploads.put(id, request);
  if ('object' in progress) return sendJson(response, 200, resource(progress.object, origin));
  const range = progress.persisted === 0 ? {} : { range: `bytes=0-${progress.persisted - 1}` };
  response.writeHead(308, { ...range, 'content-length': 0 }).end();
}

/** Cancels an upload. Responds with the status 499, as Cloud Storage does. */
export async function cancelSession({ response, uploads }: Exchange, id: string): Promise<void> {
  await uploads.cancel(id);
  response.writeHead(499, { 'content-length': 0 }).end();
}

function getHeader(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}

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
    ...defined({ 'content-range': range && `bytes ${start}-${end}/${object.size}` }),
  });
  if (object.size === 0) response.end();
  else await pipeline(files.read(object, start, end), response);
}

function objectHeaders(object: StoredObject): Record<string, string> {
  return {
    'content-type': object.contentType,
    ...defined({ 'content-encoding': object.contentEncoding }),
    'accept-ranges': 'bytes',
    etag: etag(object),
    'last-modified': new Date(object.timeCreated).toUTCString(),
    'x-goog-generation': object.generation,
    'x-goog-metageneration': metageneration,
    'x-goog-hash': `crc32c=${object.crc32c}`,
    'x-goog-storage-class': 'STANDARD',
    'x-goog-stored-content-length': String(object.size),
    'x-goog-stored-content-encoding': object.contentEncoding ?? 'identity',
  };
}

// Parses the Range header. Returns the positions of the first and the last byte. Returns undefined if there is no
// range, or if HTTP permits a server to ignore the range.
function parseRange(header: string | undefined, size: number): [number, number] | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(size - 1, Number(last));
  if (start > end) throw rangeNotSatisfiable();
  return [start, end];
}

/** Returns an object's metadata as the JSON API sends it, with numbers as strings. */
function resource(object: StoredObject, origin: string): Record<string, unknown> {
  const { bucket, name, generation, size, timeCreated, ...rest } = object;
  const path = `b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(name)}`;
  return {
    kind: 'storage#object',
    id: `${bucket}/${name}/${generation}`,
    selfLink: `${origin}/storage/v1/${path}`,
    mediaLink: `${origin}/download/storage/v1/${path}?generation=${generation}&alt=media`,
    bucket,
    name,
    generation,
    metageneration,
    storageClass: 'STANDARD',
    size: String(size),
    etag: etag(object),
    timeCreated,
    updated: timeCreated,
    ...rest,
  };
}

const etag = ({ generation }: StoredObject) => Buffer.from(generation).toString('base64');

/** The version of an object's metadata. It is constant, because no operation of the stand-in changes metadata. */
const metageneration = '1';

/**
 * Returns a function that checks the preconditions of a query against the current object. A precondition on the
 * generation 0 requires that the object does not exist.
 */
function preconditions(query: URLSearchParams): ObjectPrecondition {
  return (present) => {
    const generation = present?.generation ?? '0';
    const [match, notMatch] = [query.get('ifGenerationMatch'), query.get('ifGenerationNotMatch')];
    const version = query.get('ifMetagenerationMatch');
    const unmet =
      (match !== null && match !== generation) ||
      (notMatch !== null && notMatch === generation) ||
      (version !== null && (present === undefined || version !== metageneration));
    if (unmet) throw conditionNotMet();
  };
}

function requireObject(
  object: StoredObject | undefined,
  name: { readonly bucket: string; readonly object: string },
  query: URLSearchParams,
): StoredObject {
  const generation = query.get('generation');
  const isMissing = object === undefined || (generation !== null && generation !== object.generation);
  if (isMissing) throw noSuchObject(name.bucket, name.object);
  return object;
}

export interface ObjectRoute {
  readonly kind: 'object' | 'bucket' | 'upload';
  readonly bucket: string;
  /** The object's name; empty if the path ends at the bucket. */
  readonly object: string;
  readonly query: URLSearchParams;
}

const objectPaths =
  /^\/(?:(storage\/v1|download\/storage\/v1|(?:resumable\/)?upload\/storage\/v1)\/)?b\/([^/]+)\/o(?:\/(.*))?$/;

/**
 * Parses a path of the JSON API. The official client omits `/storage/v1` if STORAGE_EMULATOR_HOST is set.
 * @throws GoogleError 404 for any other path
 */
export function parseRoute(url: string): ObjectRoute {
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  const [, prefix = '', bucket, object = ''] = objectPaths.exec(path) ?? [];
  if (bucket === undefined) throw notImplemented();
  const kind = prefix.includes('upload') ? 'upload' : object === '' ? 'bucket' : 'object';
  return { kind, bucket: decodePathPart(bucket), object: decodePathPart(object), query: new URLSearchParams(query) };
}

/**
 * Parses a path of the XML API.
 * @throws GoogleError 404 for a path without an object
 */
export function parseSignedRoute(url: string): ObjectRoute {
  const { pathname, searchParams: query } = new URL(url, 'http://storage');
  const [, bucket, object] = /^\/([^/]+)\/(.+)$/.exec(pathname) ?? [];
  if (bucket === undefined || object === undefined) throw notImplemented();
  return { kind: 'object', bucket: decodePathPart(bucket), object: decodePathPart(object), query };
}

function decodePathPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('Malformed path.');
  }
}
