import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { GoogleError, invalid } from './googleError.ts';
import {
  compareChecksum,
  type Draft,
  type ObjectDescription,
  type ObjectFiles,
  type ObjectPrecondition,
  type StoredObject,
  unitBytes,
} from './objectFiles.ts';

export type UploadProgress = { readonly persisted: number } | { readonly object: StoredObject };

/** The resumable uploads of this process. A restart loses these uploads. */
export interface ResumableUploads {
  start(request: UploadRequest, guard: ObjectPrecondition): Promise<string>;
  /** Receives bytes of an upload. A request without bytes only asks for the progress. */
  put(id: string, request: IncomingMessage): Promise<UploadProgress>;
  /** Returns the origin whose web pages may send the bytes of the upload; undefined if no page may. */
  origin(id: string): string | undefined;
  cancel(id: string): Promise<void>;
  close(): Promise<void>;
}

interface Session {
  readonly request: UploadRequest;
  readonly guard: ObjectPrecondition;
  readonly draft: Draft;
  object: StoredObject | undefined;
  /**
   * The request whose body is being received. A further request for the same upload ends this request, because the
   * client has apparently abandoned it.
   */
  current: { readonly message: IncomingMessage; readonly done: Promise<unknown> } | undefined;
}

export function createResumableUploads(files: ObjectFiles): ResumableUploads {
  const sessions = new Map<string, Session>();
  const find = (id: string) => {
    const session = sessions.get(id);
    if (session === undefined) throw new GoogleError(404, 'notFound', 'Upload session not found.');
    return session;
  };
  return {
    async start(request, guard) {
      const { bucket, name } = request.description;
      guard(await files.find(bucket, name));
      const id = randomUUID();
      sessions.set(id, { request, guard, draft: await files.draft(), object: undefined, current: undefined });
      return id;
    },
    put(id, message) {
      const session = find(id);
      const progress = receiveAfter(session.current, () => receive(files, session, message));
      session.current = { message, done: progress };
      return progress.catch(async (error: unknown) => {
        if (error instanceof GoogleError && sessions.delete(id)) await session.draft.discard();
        throw error;
      });
    },
    origin: (id) => sessions.get(id)?.request.origin,
    async cancel(id) {
      const session = find(id);
      await abandon(session.current);
      if (session.object !== undefined) throw invalid('The upload is complete.');
      sessions.delete(id);
      await session.draft.discard();
    },
    async close() {
      for (const { current, draft } of sessions.values()) {
        await abandon(current);
        await draft.discard();
      }
      sessions.clear();
    },
  };
}

async function receiveAfter(
  previous: Session['current'],
  next: () => Promise<UploadProgress>,
): Promise<UploadProgress> {
  await abandon(previous);
  return await next();
}

async function abandon(current: Session['current']): Promise<void> {
  if (current === undefined) return;
  if (!current.message.complete) current.message.destroy();
  await Promise.allSettled([current.done]);
}

async function receive(files: ObjectFiles, session: Session, message: IncomingMessage): Promise<UploadProgress> {
  if (session.object !== undefined) return { object: session.object };
  const range = parseContentRange(message.headers['content-range'], session.request.size);
  const { draft, request, guard } = session;
  if (range.total !== undefined) checkSize(request, range.total);
  if (range.start !== undefined) {
    if (range.start !== draft.size()) return { persisted: draft.size() };
    await draft.append(message);
    const length = draft.size() - range.start;
    if (range.end !== undefined && range.end !== draft.size() - 1) throw invalid('The range does not match the bytes.');
    if (range.total === undefined && !range.endsWithBody && length % unitBytes !== 0)
      throw invalid('A chunk that is not the last must be a multiple of 256 KiB.');
  }
  if (!range.endsWithBody && range.total !== draft.size()) return { persisted: draft.size() };
  checkSize(request, draft.size());
  const [, inHeader = request.crc32c] = /\bcrc32c=([^,]*)/.exec(String(message.headers['x-goog-hash'])) ?? [];
  compareChecksum(inHeader, draft.crc32c());
  session.object = await files.publish(draft, request.description, guard);
  return { object: session.object };
}

function checkSize({ size }: UploadRequest, bytes: number): void {
  if (size !== undefined && size !== bytes)
    throw invalid(`The upload has ${bytes} bytes, and X-Upload-Content-Length was ${size}.`);
}

interface ContentRange {
  /** The position of the first byte; undefined if the request contains no bytes and asks for the progress. */
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly total: number | undefined;
  /** True if the object ends with the last byte of the request body. */
  readonly endsWithBody: boolean;
}

// Parses a Content-Range header: `bytes 0-9/*`, `bytes 0-9/10`, `bytes 0-*/*` (up to the end of the body), or `bytes
// */10` and `bytes */*` (without bytes). Without the header, the body is the whole object.
function parseContentRange(header: string | undefined, size: number | undefined): ContentRange {
  if (header === undefined) return { start: 0, end: undefined, total: undefined, endsWithBody: true };
  const [, start, end, total] = /^bytes (?:\*|(\d+)-(\*|-?\d+))\/(\*|\d+)$/.exec(header) ?? [];
  if (total === undefined) throw invalid('Failed to parse Content-Range header.');
  return {
    start: parseBound(start),
    end: parseBound(end),
    total: parseBound(total) ?? size,
    endsWithBody: end === '*' && total === '*',
  };
}

const parseBound = (text: string | undefined) => (text === undefined || text === '*' ? undefined : Number(text));

const body = z.object({
  name: z.string().optional(),
  contentType: z.string().optional(),
  contentEncoding: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  crc32c: z.string().optional(),
});

export interface UploadRequest {
  readonly description: ObjectDescription;
  readonly crc32c: string | undefined;
  readonly size: number | undefined;
  /** The origin whose web pages may send the bytes; undefined if no web page may send them. */
  readonly origin: string | undefined;
}

/**
 * Reads the request that starts an upload. Its JSON or its query contains the name of the object.
 * @throws GoogleError 400 for invalid metadata or a missing name
 */
export function readUploadRequest(
  bucket: string,
  query: URLSearchParams,
  json: string,
  headers: {
    readonly contentType: string | undefined;
    readonly size: string | undefined;
    readonly origin: string | undefined;
  },
): UploadRequest {
  const parsed = body.safeParse(parseMetadata(json));
  const name = query.get('name') ?? parsed.data?.name;
  if (!parsed.success || name === undefined || name === '') throw invalid('Required: object name');
  const { crc32c, contentEncoding, metadata } = parsed.data;
  return {
    description: {
      bucket,
      name,
      contentType: parsed.data.contentType ?? headers.contentType ?? 'application/octet-stream',
      contentEncoding,
      metadata,
    },
    crc32c,
    size: headers.size === undefined ? undefined : Number(headers.size),
    origin: headers.origin,
  };
}

function parseMetadata(json: string): unknown {
  try {
    return json.trim() === '' ? {} : JSON.parse(json);
  } catch {
    throw invalid('Parse Error');
  }
}
