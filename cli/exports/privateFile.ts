import events from 'node:events';
import { PassThrough } from 'node:stream';
import { createBodyStorage, type ReceivedBody } from '../../shared/http/bodyStorage.ts';
import { compressFor, readExportJson, storeContent, storedContent } from './fileContent.ts';
import type { ExportFile, FilePlace } from './placeInterfaces.ts';

/** A place that stores an export for this process alone. `readExport` always returns the whole export. */
interface PrivateFile extends FilePlace, AsyncDisposable {
  readExport(): Promise<ExportFile>;
  /**
   * Returns an export with the same content as the given export. While a caller reads the returned export, this place
   * stores its bytes.
   */
  storing(content: ExportFile & Required<Pick<ExportFile, 'once'>>): ExportFile;
}

/**
 * Opens a place for an export that contains secrets. The export is in a compressed temporary file without a name, so
 * the operating system deletes it when the process ends. A new export replaces the previous export.
 */
export function openPrivateFile(name: string): PrivateFile {
  let body: ReceivedBody | undefined;
  const keep = async (content: AsyncIterable<Uint8Array>, signal: AbortSignal) => {
    body = await storeContent(compressFor('.gz', content), createBodyStorage({ memoryBytes: 0 }), signal);
    return { place: name, bytes: body.size };
  };
  const close = async () => {
    await body?.close();
    body = undefined;
  };
  return {
    takes: 'files',
    name,
    async store(content, signal) {
      await close();
      return await keep(content, signal);
    },
    storing(content) {
      const { once } = content;
      async function* open(signal: AbortSignal): AsyncGenerator<Uint8Array> {
        await close();
        const copy = new PassThrough();
        const kept = keep(copy, signal);
        // If `kept` fails, the code below throws its error. Without this handler, Node.js would also end the process
        // because of the rejected promise.
        kept.catch(() => undefined);
        try {
          for await (const chunk of once.open(signal)) {
            if (!copy.write(chunk)) await Promise.race([events.once(copy, 'drain', { signal }), kept]);
            yield chunk;
          }
          copy.end();
          await kept;
        } finally {
          copy.destroy();
        }
      }
      return { ...content, once: { ...once, open } };
    },
    async readExport() {
      const stored = body;
      if (stored === undefined) throw new Error(`${name} is not stored`);
      return storedContent({ size: stored.size }, (count) => readExportJson(name, count(stored.open())));
    },
    [Symbol.asyncDispose]: close,
  };
}
