import { createCloudStorage, requireCreatable } from '../../shared/objectStorage/cloudStorage.ts';
import { objectUri } from '../../shared/objectStorage/objectName.ts';
import type { ObjectLocation } from '../../shared/objectStorage/objectStorage.ts';
import { compressFor, readExportJson, storedContent } from '../exports/fileContent.ts';
import type { FilePlace } from '../exports/placeInterfaces.ts';

/** Opens an object in Cloud Storage as a place. The object need not exist yet. */
export function openObject(location: ObjectLocation): FilePlace {
  const name = objectUri(location);
  const storage = createCloudStorage();
  return {
    takes: 'files',
    name,
    requireFree: (signal) => requireCreatable(location, signal),
    async readExport(_, signal) {
      // Another program may replace the object at any time. So read the content only from the present generation of the
      // object.
      const object = await storage.pin(location, signal);
      return storedContent(object, (count, readSignal) => readExportJson(name, count(object.read(readSignal))));
    },
    async store(content, signal) {
      const written = await storage.write(location, compressFor(location.path, content), signal);
      return { place: name, bytes: written.size, generation: written.generation, crc32c: written.crc32c };
    },
  };
}
