// Pages of an export file that is larger than a response may be.

import { z } from 'zod';
import { invalidRequest } from '../../shared/errors/errors.ts';
import { MAX_MANIFEST_BYTES } from '../../shared/exportFile/manifest.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';

const pageStart = z.strictObject({
  orgId: z.string(),
  /** The section that the page continues; absent for the beginning of the organisation. */
  section: z.string().exactOptional(),
  /** The document id of the section's last record in the page before; absent for the section's beginning. */
  after: z.string().exactOptional(),
});

/** The position at which a page begins. Organisations and records are in the database's order. */
export type PageStart = z.infer<typeof pageStart>;

/** A page of an export file that is larger than a response may be, or the whole file. */
export class Page {
  /** Undefined for the first page. */
  readonly start: PageStart | undefined;
  /** The position of the next page, once this page is full. */
  next: PageStart | undefined;
  private readonly maxBytes: number;
  private bytes = 0;

  constructor(maxBytes = Number.POSITIVE_INFINITY, start?: PageStart) {
    this.maxBytes = maxBytes;
    this.start = start;
  }

  /** Whether the page has room for a record, which it then holds. Each page has room for its first record. */
  takes(json: string): boolean {
    if (this.maxBytes === Number.POSITIVE_INFINITY) return true;
    const bytes = this.bytes + Buffer.byteLength(json);
    if (this.bytes > 0 && bytes > this.maxBytes) return false;
    this.bytes = bytes;
    return true;
  }
}

/** Returns the size of a page's records: a response also has a manifest. */
export function pageBytes(responseBytes: number): number {
  return responseBytes - Math.min(MAX_MANIFEST_BYTES, responseBytes / 4);
}

/** Encodes a position for `nextPageToken`. */
export function pageToken(start: PageStart): string {
  return Buffer.from(JSON.stringify(start)).toString('base64url');
}

/**
 * Reads a `page_token`.
 * @throws IdentityError INVALID_ARGUMENT
 */
export function readPageToken(token: string): PageStart {
  const { data } = pageStart.safeParse(parseIfJson(Buffer.from(token, 'base64url').toString()));
  if (data !== undefined) return data;
  const description = 'must be the nextPageToken of the manifest of the page before';
  throw invalidRequest([{ field: 'page_token', description }]);
}
