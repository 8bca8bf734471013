import type { z } from 'zod';
import { exportedManifest, exportFileLimits, joinManifests } from '../../shared/exportFile/manifest.ts';
import { isJsonObject, parseIfJson } from '../../shared/json/jsonObject.ts';
import { JsonSplitter } from '../../shared/json/splitter.ts';

/** The parts of a page's manifest that form the joined file's manifest. */
const pageManifest = exportedManifest
  .pick({ counts: true, digest: true, leftToDo: true, nextPageToken: true })
  .partial({ leftToDo: true });
type PageManifest = z.infer<typeof pageManifest>;

/**
 * Yields the pages of an export as one file: the entries of all pages, then one manifest. An organisation that continues
 * on the next page has one entry per page.
 * @param read reads a page; the token of the first page is empty
 * @throws JsonError for a page that is not JSON
 */
export async function* joinPages(read: (pageToken: string) => AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const manifests: PageManifest[] = [];
  let text = '';
  let separator = '{"orgs":[';
  for (let token: string | undefined = ''; token !== undefined; token = manifests.at(-1)?.nextPageToken) {
    const page = new PageSplitter();
    for await (const chunk of read(token)) {
      for (const { bytes, isStart } of page.push(chunk)) {
        if (isStart) {
          yield Buffer.from(separator);
          separator = ',';
        }
        yield bytes;
      }
    }
    if (manifests.length === 0) text = page.manifest;
    manifests.push(pageManifest.parse(JSON.parse(page.manifest)));
  }
  const start = separator === ',' ? '' : separator;
  yield Buffer.from(`${start}],"manifest":${joinedManifest(text, manifests)}}\n`);
}

/** @param first the text of the first page's manifest, which the file gets if it has one page */
function joinedManifest(first: string, manifests: readonly PageManifest[]): string {
  const json = parseIfJson(first);
  if (manifests.length === 1 || !isJsonObject(json)) return first;
  const { nextPageToken: _, ...facts } = json;
  return JSON.stringify({ ...facts, ...joinManifests(manifests) });
}

/** Splits a page into its entries, whose bytes it returns, and its manifest. The reader of the joined file checks them. */
class PageSplitter {
  manifest = '';
  private readonly splitter = new JsonSplitter((path) => {
    if (path[0] === 'orgs') return path.length === 1 ? 'enter' : 'skip';
    return path.length === 0 ? 'enter' : 'keep';
  }, exportFileLimits);
  private offset = 0;

  /** Returns the parts of entries in a chunk. */
  push(chunk: Uint8Array) {
    const values = this.splitter.push(chunk);
    const start = this.offset;
    this.offset += chunk.byteLength;
    const entries: { readonly start: number; readonly end: number }[] = [];
    for (const value of values) {
      if (value.path.length === 2) entries.push(value);
      if (value.path[0] === 'manifest') this.manifest = value.text;
    }
    const { skippedStart } = this.splitter;
    if (skippedStart !== undefined) entries.push({ start: skippedStart, end: this.offset });
    return entries.map((entry) => ({
      bytes: chunk.subarray(Math.max(0, entry.start - start), entry.end - start),
      isStart: entry.start >= start,
    }));
  }
}
