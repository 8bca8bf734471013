import { pinExportObject } from '../../functions/import/source/exportObject.ts';
import { createCloudStorage, removeObject } from '../../shared/objectStorage/cloudStorage.ts';
import type { ObjectLocation } from '../../shared/objectStorage/objectStorage.ts';
import { compressFor, decompress, storedContent } from './content.ts';
import type { ExportContent, FilePlace } from './place.ts';

/** Opens an object in Cloud Storage as a place. It need not exist. */
export function openObject(location: ObjectLocation): FilePlace {
  const name = `gs://${location.bucket}/${location.path}`;
  const storage = createCloudStorage();
  return {
    takes: 'files',
    object: location,
    name,
    remove: (signal) => removeObject(location, signal),
    readExport: (_, signal) => readContent(location, signal),
    async store(content, signal) {
      const written = await storage.write(location, compressFor(location.path, content), signal);
      return { place: name, bytes: written.size, generation: written.generation, crc32c: written.crc32c };
    },
  };
}

/** Reads the generation that is the current one now, however often. */
async function readContent(location: ObjectLocation, signal: AbortSignal): Promise<ExportContent> {
  const object = await pinExportObject(createCloudStorage(), location, signal);
  return storedContent(
    () => object.size,
    (count, readSignal) => object.read(readSignal, (name, bytes) => decompress(name, count(bytes))),
  );
}
