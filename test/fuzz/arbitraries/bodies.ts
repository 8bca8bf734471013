import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { HttpRequest } from '../http/httpRequest.ts';
import { rarely, someDamage } from './byteEdits.ts';

type Framed = Pick<HttpRequest, 'headers' | 'body' | 'plain' | 'chunks'>;

const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** How a body is coded, by its Content-Encoding; some say another coding than theirs. */
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
const chunks = fc.option(fc.array(fc.constantFrom(1, 2, 7, 100, 5_000, 70_000), { minLength: 1, maxLength: 5 }), {
  freq: 4,
});

/** Bodies of some content in any coding and framing; a few are damaged. */
export function framed(content: fc.Arbitrary<Buffer>): fc.Arbitrary<Framed> {
  return fc
    .tuple(content, rarely(8, someDamage), coding, rarely(20, someDamage), chunks)
    .map(([clean, damage, which, damageCoded, sizes]) => {
      const plain = damage(clean);
      const [header, encode] = codings[which] ?? [undefined, (bytes: Buffer) => bytes];
      return {
        headers: header === undefined ? [] : [['Content-Encoding', header] as const],
        plain,
        body: damageCoded(encode(plain)),
        ...(sizes === null ? {} : { chunks: sizes }),
      };
    });
}
