import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { addAbortSignal, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { completeFile, directoryProblem } from '../../shared/durableFiles.ts';
import { fileExists } from '../../shared/errors/commandErrors.ts';
import {
  directoryUnusable,
  outputIncomplete,
  sourceInvalid,
  sourceMissing,
  storageFull,
} from '../../shared/errors/placeErrors.ts';
import { isPlainJson, REQUEST_START_BYTES } from '../../shared/exportFile/fileForm.ts';
import { isStorageFull, systemCode } from '../../shared/systemCode.ts';
import { compressFor, readExportJson, storedContent } from '../exports/fileContent.ts';
import type { ExportFile, FilePlace, StoredFile } from '../exports/placeInterfaces.ts';
import type { Surroundings } from '../terminal/command.ts';
import { counted } from '../terminal/numberTexts.ts';

/** Opens the file as a place. The file need not exist yet. */
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
    const advice = 'specify a file, or sqlite:DIR for the database of a self-hosted instance';
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

/**
 * Requires that the command can create a new file with this path.
 * @throws IdentityError ALREADY_EXISTS, DIRECTORY_UNUSABLE; the error of the file system for an invalid name
 */
export async function requireFreeFile(path: string): Promise<void> {
  try {
    // Unlike `stat`, `lstat` also finds a link whose target is missing. The path of such a link is in use, so the
    // command cannot create a file there.
    await lstat(path);
  } catch (error) {
    const directory = dirname(resolve(path));
    const problem = await directoryProblem(directory);
    if (problem !== undefined) throw directoryUnusable({ directory, problem, file: path });
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
  let bytes = 0;
  const write = (file: FileHandle) =>
    pipeline(
      compressFor(path, content),
      async (chunks: AsyncIterable<Uint8Array>) => {
        for await (const chunk of chunks) {
          await file.writeFile(chunk);
          bytes += chunk.byteLength;
        }
      },
      { signal },
    );
  await completeFile(path, write, warn).catch((error: unknown) => {
    throw storeError(error, path, bytes);
  });
  return { place: path, bytes };
}

function storeError(error: unknown, path: string, bytes: number): unknown {
  if (systemCode(error) === 'EEXIST') return fileExists({ file: path });
  if (!isStorageFull(error)) return error;
  return storageFull({ directory: dirname(resolve(path)), bytes: counted(bytes, 'byte'), place: path });
}

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
