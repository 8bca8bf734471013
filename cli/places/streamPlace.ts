import { pipeline } from 'node:stream/promises';
import { decompress } from './compression.ts';
import type { ExportContent, FilePlace, StoredFile } from './place.ts';

/** Standard input and standard output as a place. */
export const streamPlace: FilePlace = { takes: 'files', name: '-', readExport: async () => readContent(), store };

function readContent(): ExportContent {
  return {
    isRepeatable: false,
    open: () => decompress('standard input', process.stdin),
    [Symbol.asyncDispose]: async () => void process.stdin.destroy(),
  };
}

async function store(content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StoredFile> {
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      bytes += chunk.byteLength;
      yield chunk;
    }
  }
  await pipeline(counted(), process.stdout, { end: false, signal });
  return { place: 'standard output', bytes };
}
