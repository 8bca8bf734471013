import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { bodyCorrupted, encodingUnsupported } from '../errors/httpErrors.ts';

const chunkSize = 256 * 1024;

const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ['br', () => createBrotliDecompress({ chunkSize })],
  ['gzip', () => createGunzip({ chunkSize })],
  ['x-gzip', () => createGunzip({ chunkSize })],
]);

/** Undoes the coding of a body, no further ahead of its reader than a chunk. */
export type Decode = (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/**
 * What a Content-Encoding header asks for: gzip or brotli, once.
 * @returns undefined where the body is not encoded
 * @throws IdentityError 415 for any other coding, and for several
 */
export function decoderFor(header: string | null): Decode | undefined {
  const codings = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim());
  const [coding, ...more] = codings.filter((one) => one !== '' && one !== 'identity');
  if (coding === undefined) return undefined;
  const create = decoders.get(coding);
  if (create === undefined || more.length > 0) throw encodingUnsupported([...decoders.keys()]);
  return (chunks) => decode(chunks, create(), coding);
}

async function* decode(
  chunks: AsyncIterable<Uint8Array>,
  decoder: Transform,
  coding: string,
): AsyncGenerator<Uint8Array> {
  // Whatever fails destroys the decoder with its reason, which is thrown by the loop.
  pipeline(Readable.from(chunks), decoder, () => undefined);
  try {
    yield* decoder;
  } catch (fault) {
    throw isZlibFault(fault) ? bodyCorrupted(coding, fault) : fault;
  }
}

function isZlibFault(fault: unknown): fault is Error {
  return fault instanceof Error && 'errno' in fault && 'code' in fault && /^Z_|^ERR_/.test(String(fault.code));
}
