// Files and standard streams as places.

import { createReadStream } from 'node:fs';
import { access, type FileHandle, open, stat } from 'node:fs/promises';
import { addAbortSignal, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { completeFile } from '../../shared/durableFiles.ts';
import { fileExists } from '../../shared/errors/commandErrors.ts';
import { outputIncomplete, sourceInvalid, sourceMissing, storageFull } from '../../shared/errors/placeErrors.ts';
import { isPlainJson, REQUEST_START_BYTES } from '../../shared/exportFile/fileForm.ts';
import { isStorageFull, systemCode } from '../../shared/systemCode.ts';
import { compressFor, readExportJson, storedContent } from '../exports/fileContent.ts';
import type { ExportFile, FilePlace, StoredFile } from '../exports/placeInterfaces.ts';
import type { Surroundings } from '../terminal/command.ts';

/**
 * Opens a file as a place. It need not exist.
 * @param warn prints a warning
 */
export function openFile(path: string, warn: (warning: string) => void): FilePlace {
  return {
    takes: 'files',
    name: path,
    readExport: () => openStoredFile(path),
    store: (content, signal) => storeFile(path, content, signal, warn),
    requireFree: () => requireFreeFile(path),
  };
}

async function openStoredFile(path: string): Promise<ExportFile> {
  const entry = await stat(path).catch((error: unknown) => {
    throw systemCode(error) === 'ENOENT' ? sourceMissing({ place: path }) : error;
  });
  if (entry.isDirectory()) {
    const advice = 'name a file, or sqlite:DIR for the database of a self-hosted instance';
    throw sourceInvalid({ place: path, problem: 'is a directory, not an export file', advice });
  }
  const isPlain = entry.isFile() && (await isPlainJson(await readStartOf(path)));
  return storedContent({ size: entry.size, isPlain }, (count, signal) =>
    readExportJson(path, count(createReadStream(path, { signal }))),
  );
}

async function readStartOf(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(REQUEST_START_BYTES) });
  return buffer.subarray(0, bytesRead);
}

/** @throws IdentityError ALREADY_EXISTS; Error of the file system for a path that cannot be looked up */
export async function requireFreeFile(path: string): Promise<void> {
  try {
    await access(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  throw fileExists({ file: path });
}

async function storeFile(
  path: string,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  warn: (warning: string) => void,
): Promise<StoredFile> {
  await requireFreeFile(path);
  const write = (file: FileHandle) =>
    pipeline(compressFor(path, content), (chunks) => file.writeFile(chunks), { signal });
  await completeFile(path, write, 'new', warn).catch((error: unknown) => {
    throw storeError(error, path);
  });
  return { place: path, bytes: (await stat(path)).size };
}

function storeError(error: unknown, path: string): unknown {
  if (systemCode(error) === 'EEXIST') return fileExists({ file: path });
  return isStorageFull(error) ? storageFull({ place: path }) : error;
}

/** Opens standard input and standard output as a place. */
export function openStreams({ stdin, stdout }: Pick<Surroundings, 'stdin' | 'stdout'>): FilePlace {
  const content: ExportFile = {
    isRepeatable: false,
    open: (signal) => readExportJson('standard input', addAbortSignal(signal, stdin)),
    [Symbol.asyncDispose]: async () => void stdin.destroy(),
  };
  return { takes: 'files', name: '-', readExport: async () => content, store: storeIn(stdout) };
}

function storeIn(stdout: Writable): FilePlace['store'] {
  return async (content, signal) => {
    let bytes = 0;
    async function* counted(): AsyncGenerator<Uint8Array> {
      for await (const chunk of content) {
        bytes += chunk.byteLength;
        yield chunk;
      }
    }
    await pipeline(counted(), stdout, { end: false, signal }).catch((error: NodeJS.ErrnoException) => {
      throw error.syscall === 'write' ? outputIncomplete({ code: systemCode(error) }) : error;
    });
    return { place: 'standard output', bytes };
  };
}
