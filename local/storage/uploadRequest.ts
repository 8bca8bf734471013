import { z } from 'zod';
import type { Checksums } from './checksum.ts';
import { invalid } from './googleError.ts';
import type { ObjectDescription } from './objectFiles.ts';

const body = z.object({
  name: z.string().optional(),
  contentType: z.string().optional(),
  contentEncoding: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  crc32c: z.string().optional(),
  md5Hash: z.string().optional(),
});

/** What a client says when it begins an upload. */
export interface UploadRequest {
  readonly description: ObjectDescription;
  /** The checksums that it expects the object to have. */
  readonly given: Partial<Checksums>;
}

/**
 * Reads the metadata that comes with an upload; the object's name is there or in the query.
 * @param contentType of the bytes, where it is given beside the metadata
 * @throws GoogleError 400
 */
export function readUploadRequest(
  bucket: string,
  query: URLSearchParams,
  json: string,
  contentType: string | undefined,
): UploadRequest {
  const parsed = body.safeParse(parse(json));
  const name = query.get('name') ?? parsed.data?.name;
  if (!parsed.success || name === undefined || name === '') throw invalid('Required: object name');
  const { crc32c, md5Hash, contentEncoding, metadata } = parsed.data;
  return {
    description: {
      bucket,
      name,
      contentType: parsed.data.contentType ?? contentType ?? 'application/octet-stream',
      contentEncoding,
      metadata,
    },
    given: { ...(crc32c === undefined ? {} : { crc32c }), ...(md5Hash === undefined ? {} : { md5Hash }) },
  };
}

function parse(json: string): unknown {
  try {
    return json.trim() === '' ? {} : JSON.parse(json);
  } catch {
    throw invalid('Parse Error');
  }
}
