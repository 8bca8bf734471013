import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { GeneratedRequest } from '../generatedRequest.ts';
import { rarely, someDamage } from './byteEdits.ts';

type Framed = Pick<GeneratedRequest, 'headers' | 'body' | 'plain'>;

const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** The coding of a body, by its Content-Encoding; some headers declare another coding. */
const codings: readonly (readonly [header: string | undefined, encode: (bytes: Buffer) => Buffer])[] = [
  [undefined, (bytes) => bytes],
  ['gzip', (bytes) => gzipSync(bytes, { level: 1 })],
  ['br', (bytes) => brotliCompressSync(bytes, fast)],
  ['x-gzip', (bytes) => Buffer.concat([gzipSync(bytes.subarray(0, 9)), gzipSync(bytes.subarray(9))])],
  ['identity', (bytes) => bytes],
  ['gzip', (bytes) => bytes],
  ['br', (bytes) => gzipSync(bytes)],
  ['gzip', (bytes) => gzipSync(gzipSync(bytes))],
  ['gzip', (bytes) => gzipSync(bytes).subarray(0, 20)],
  ['gzip, gzip', (bytes) => gzipSync(gzipSync(bytes))],
  ['deflate', (bytes) => deflateSync(bytes)],
  ['zstd', (bytes) => bytes],
  [', ,', (bytes) => bytes],
];

const coding = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.nat(4) },
  { weight: 1, arbitrary: fc.nat(codings.length - 1) },
);

/** Bodies of some content in any coding; a few are damaged. */
export function framed(content: fc.Arbitrary<Buffer>): fc.Arbitrary<Framed> {
  return fc
    .tuple(content, rarely(8, someDamage), coding, rarely(20, someDamage))
    .map(([clean, damage, which, damageCoded]) => {
      const plain = damage(clean);
      const [header, encode] = codings[which] ?? [undefined, (bytes: Buffer) => bytes];
      return {
        headers: header === undefined ? [] : [['Content-Encoding', header] as const],
        plain,
        body: damageCoded(encode(plain)),
      };
    });
}
