import { tmpdir } from 'node:os';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { directoryProblem } from '../../shared/durableFiles.ts';
import type { IdentityError } from '../../shared/errors/identityError.ts';
import { sourceInvalid, spoolFull, spoolUnusable } from '../../shared/errors/placeErrors.ts';
import { exportFileJson } from '../../shared/exportFile/fileForm.ts';
import { type BodyStorage, createBodyStorage, type ReceivedBody } from '../../shared/http/bodyStorage.ts';
import { JsonError, locatedMessage } from '../../shared/json/jsonError.ts';
import { isStorageFull } from '../../shared/systemCode.ts';
import type { ExportFile } from './placeInterfaces.ts';

/**
 * A disposal method that does nothing. Used for content that has no resources, and for content whose resources belong
 * to the caller.
 */
export const undisposed = { [Symbol.asyncDispose]: async () => {} };

export type CountBytes = (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/**
 * Returns content that a caller can read repeatedly. Its method `fraction` returns the fraction of the stored bytes
 * that was read.
 * @param isPlain whether the stored bytes are not compressed
 * @param open reads the decompressed content, and passes the stored bytes through `count`
 */
export function storedContent(
  { size, isPlain = false }: { readonly size: number; readonly isPlain?: boolean },
  open: (count: CountBytes, signal: AbortSignal) => AsyncIterable<Uint8Array>,
): ExportFile {
  let position = 0;
  async function* count(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      position += chunk.byteLength;
      yield chunk;
    }
  }
  return {
    isRepeatable: true,
    size: isPlain ? size : undefined,
    open(signal) {
      position = 0;
      return open(count, signal);
    },
    fraction: () => (size === 0 ? 1 : Math.min(1, position / size)),
    ...undisposed,
  };
}

/**
 * Returns content that can be read repeatedly. This is the given content if it is repeatable, otherwise a copy. A large
 * copy is stored in a temporary file.
 * @throws IdentityError SPOOL_FULL or SPOOL_UNUSABLE if the copy cannot be stored
 */
export async function makeRepeatable(
  content: ExportFile,
  signal: AbortSignal,
  storage = createBodyStorage({ directory: tmpdir() }),
): Promise<ExportFile> {
  if (content.isRepeatable) return content;
  const copy = await storeContent(content.open(signal), storage, signal);
  return { isRepeatable: true, size: copy.size, open: () => copy.open(), [Symbol.asyncDispose]: () => copy.close() };
}

/**
 * Stores bytes. If an error occurs, closes the storage.
 * @throws IdentityError SPOOL_FULL or SPOOL_UNUSABLE if the bytes cannot be stored
 * @throws the error of reading the bytes, or the signal's reason
 */
export async function storeContent(
  bytes: AsyncIterable<Uint8Array>,
  storage: BodyStorage,
  signal: AbortSignal,
): Promise<ReceivedBody> {
  try {
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      await storage.append(chunk).catch(throwSpoolError);
    }
    return await storage.finish().catch(throwSpoolError);
  } catch (error) {
    await storage.close();
    throw error;
  }
}

async function throwSpoolError(error: unknown): Promise<never> {
  await requireTemporaryDirectory();
  throw isStorageFull(error) ? spoolFull({ directory: tmpdir() }) : error;
}

/** @throws IdentityError SPOOL_UNUSABLE if this process cannot create temporary files */
export async function requireTemporaryDirectory(): Promise<void> {
  const directory = tmpdir();
  const problem = await directoryProblem(directory);
  if (problem !== undefined) throw spoolUnusable({ directory, problem });
}

const GZIP_CHUNK_BYTES = 64 * 1024;

function isCompressed(name: string): boolean {
  return name.toLowerCase().endsWith('.gz');
}

/** Compresses a file's content if its name ends in `.gz`. */
export function compressFor(name: string, content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return isCompressed(name) ? through(content, createGzip({ chunkSize: GZIP_CHUNK_BYTES })) : content;
}

/**
 * Yields the JSON of an export file, decompressed if necessary.
 * @throws IdentityError if the content is damaged or incomplete
 */
export async function* readExportJson(place: string, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* exportFileJson(content);
  } catch (error) {
    throw sourceError(place, error);
  }
}

/**
 * Converts a `JsonError`, which reports a damaged file or a file that is not an export, to an error with the place's
 * name. Returns other errors unchanged.
 */
export function sourceError(place: string, error: unknown): unknown {
  if (!(error instanceof JsonError)) return error;
  const { wrongFile } = error;
  if (wrongFile === undefined) return notIntact(place, locatedMessage(error));
  return sourceInvalid({ place, problem: `is ${wrongFile.kind}, not an export file`, advice: wrongFile.remedy });
}

export function notIntact(place: string, reason: string): IdentityError {
  const advice = 'export the organisations again, or correct the file';
  return sourceInvalid({ place, problem: `is not an intact export file (${reason})`, advice });
}

/** The returned content throws the errors of the given content and of the transform. */
function through(
  content: AsyncIterable<Uint8Array>,
  transform: ReturnType<typeof createGzip>,
): AsyncIterable<Uint8Array> {
  pipeline(Readable.from(content, { objectMode: false }), transform, () => undefined);
  return transform;
}
