import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import type { ObjectLocation } from '../../shared/objectStorage/objectStorage.ts';
import { compressFor, decompress } from './compression.ts';
import type { ExportContent, FilePlace } from './place.ts';

/** Opens an object in Cloud Storage as a place. It need not exist. */
export function openObject(location: ObjectLocation): FilePlace {
  const name = `gs://${location.bucket}/${location.path}`;
  const storage = createCloudStorage();
  return {
    takes: 'files',
    name,
    readExport: (_, signal) => readContent(name, location, signal),
    async store(content, signal) {
      const written = await storage.write(location, compressFor(location.path, content), signal);
      return { place: name, bytes: written.size, generation: written.generation, crc32c: written.crc32c };
    },
  };
}

/** Reads the generation that is the current one now, however often. */
async function readContent(name: string, location: ObjectLocation, signal: AbortSignal): Promise<ExportContent> {
  const object = await createCloudStorage().pin(location, signal);
  let position = 0;
  async function* bytes(readSignal: AbortSignal): AsyncGenerator<Uint8Array> {
    position = 0;
    for await (const chunk of object.read(readSignal)) {
      position += chunk.byteLength;
      yield chunk;
    }
  }
  return {
    isRepeatable: true,
    open: (readSignal) => decompress(name, bytes(readSignal)),
    fraction: () => (object.size === 0 ? 1 : position / object.size),
    [Symbol.asyncDispose]: async () => {},
  };
}
