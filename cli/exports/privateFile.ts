import { createBodyStorage, type ReceivedBody } from '../../shared/http/bodyStorage.ts';
import { compressFor, readExportJson, storeContent, storedContent } from './fileContent.ts';
import type { ExportFile, FilePlace } from './placeInterfaces.ts';

/** A place for a private file, which is always read completely. */
interface PrivateFile extends FilePlace, AsyncDisposable {
  readExport(): Promise<ExportFile>;
}

/**
 * Opens a place for an export that contains secrets. Its temporary file is compressed and has no name, so the operating
 * system deletes it however the process ends. Each stored export replaces the earlier one.
 * @param name the place's name in messages
 */
export function openPrivateFile(name: string): PrivateFile {
  let body: ReceivedBody | undefined;
  const close = async () => {
    await body?.close();
    body = undefined;
  };
  return {
    takes: 'files',
    name,
    async store(content, signal) {
      await close();
      body = await storeContent(compressFor('.gz', content), createBodyStorage({ memoryBytes: 0 }), signal);
      return { place: name, bytes: body.size };
    },
    async readExport() {
      const stored = body;
      if (stored === undefined) throw new Error(`${name} is not stored`);
      return storedContent({ size: stored.size }, (count) => readExportJson(name, count(stored.open())));
    },
    [Symbol.asyncDispose]: close,
  };
}
