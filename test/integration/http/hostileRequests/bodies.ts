import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type HostileRequest, head, post } from './hostileRequest.ts';

const gigabyte = 2 ** 30;

// A megabyte at a time, so that the content is never in memory as a whole. Each is a gzip member.
const member = gzipSync(Buffer.alloc(2 ** 20), { level: 9 });
const zeros = Buffer.concat(Array(gigabyte / 2 ** 20).fill(member));
const brotliZeros = brotliCompressSync(Buffer.alloc(100_000_000), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

const sized = (path: string, body: string | Uint8Array, ...headers: readonly string[]) =>
  post(path, [`Content-Length: ${Buffer.byteLength(body)}`, ...headers], body);

const refused = (
  name: string,
  status: number,
  code: number,
  body: string | Uint8Array,
  ...headers: readonly string[]
) =>
  ['/admin/v1/export', '/admin/v1/import'].map(
    (path): HostileRequest => ({ name: `${name} to ${path}`, bytes: sized(path, body, ...headers), status, code }),
  );

const stranger = (name: string, body: Buffer, coding: string): HostileRequest => ({
  name: `${name} from an unknown caller`,
  bytes: () => {
    const headers = [`Content-Length: ${body.length}`, `Content-Encoding: ${coding}`];
    return Buffer.concat([Buffer.from(head('POST /admin/v1/import HTTP/1.1', ...headers)), body]);
  },
  status: 401,
  code: 16,
});

/** Bodies that are too large, or that differ from their headers. */
export const bodies: readonly HostileRequest[] = [
  ...refused('a gigabyte of zeros in gzip', 413, 8, zeros, 'Content-Encoding: gzip'),
  ...refused('a hundred megabytes of zeros in brotli', 413, 8, brotliZeros, 'Content-Encoding: br'),
  stranger('a gigabyte of zeros in gzip', zeros, 'gzip'),
  stranger('a hundred megabytes of zeros in brotli', brotliZeros, 'br'),
  ...refused('an empty body', 400, 3, ''),
  ...refused('a million brackets', 400, 3, '['.repeat(1_000_000)),
  ...refused('a number of a million digits', 400, 3, `{"timeout":${'9'.repeat(1_000_000)}}`),
  ...refused(
    'a name of a million characters twice',
    400,
    3,
    `{"${'x'.repeat(1_000_000)}":1,"${'x'.repeat(1_000_000)}":1}`,
  ),
  ...refused('a field of a million characters', 400, 3, `{"timeout":{"${'x'.repeat(1_000_000)}":1}}`),
  {
    name: 'a count in a manifest under a name of a million characters',
    bytes: sized(
      '/admin/v1/import',
      `{"data_orgs":{"orgs":[],"manifest":{"counts":{"${'x'.repeat(1_000_000)}":"1"}}}}`,
    ),
    status: 400,
    code: 3,
  },
  ...refused('bytes that are no UTF-8', 400, 3, Buffer.from('{"timeout":"\xff"}', 'latin1')),
  ...['/admin/v1/export', '/admin/v1/import'].map(
    (path): HostileRequest => ({
      name: `a body declared as an exabyte to ${path}`,
      bytes: post(path, ['Content-Length: 1000000000000000000'], '{}'),
      status: 413,
      code: 8,
    }),
  ),
];
