import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { metageneration } from './conditions.ts';
import { rangeNotSatisfiable } from './googleError.ts';
import type { ObjectFiles, StoredObject } from './objectFiles.ts';
import { etag } from './resource.ts';

/** Answers with an object's bytes, or with the part of them that the Range header asks for. */
export async function download(
  files: ObjectFiles,
  object: StoredObject,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const range = parseRange(request.headers.range, object.size);
  const [start, end] = range ?? [0, object.size - 1];
  response.writeHead(range === undefined ? 200 : 206, {
    ...headersOf(object),
    'content-length': end - start + 1,
    ...(range === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${object.size}` }),
  });
  if (object.size === 0) response.end();
  else await pipeline(files.read(object, start, end), response);
}

function headersOf(object: StoredObject): Record<string, string> {
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

// First and last byte; undefined where there is no range, or one that HTTP lets a server ignore.
function parseRange(header: string | undefined, size: number): [number, number] | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(size - 1, Number(last));
  if (start > end) throw rangeNotSatisfiable();
  return [start, end];
}
