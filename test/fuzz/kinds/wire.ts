import fc from 'fast-check';
import { someDamage } from '../arbitraries/byteEdits.ts';
import { type HttpRequest, toBytes } from '../http/httpRequest.ts';
import type { FuzzCase } from '../support/fuzzCase.ts';
import { type Kind, owner } from './kind.ts';
import { forHttp2 } from './rpcs.ts';

/** Lines of a head that are not HTTP, or that servers and proxies have understood differently. */
const oddLines = [
  ...['Content-Length: 0', 'Content-Length: 5', 'Content-Length: +2', 'Content-Length: 2, 2', 'Content-Length : 2'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: xchunked', 'Transfer-Encoding: gzip, chunked'],
  ...['Transfer-Encoding:\tchunked', 'Transfer-Encoding: identity', ' folded', '\tfolded', 'X:1\r\n 2', 'no colon'],
  ...[': no name', 'X Y: 1', 'X\0: 1', 'X: a\0b', 'X: a\rb', 'Host: other', 'Host: a b', 'Host:', 'Expect: tea'],
  ...['Expect: 100-continue', 'Connection: close', 'Connection: Upgrade\r\nUpgrade: h2c', 'Trailer: X'],
  ...[`X: ${'x'.repeat(17_000)}`, `${'x'.repeat(17_000)}: 1`, ...Array(1).fill('X: 1\r\n'.repeat(2_500).trim())],
];

const requestLines = [
  ...['GET / HTTP/1.0', 'GET /', 'POST * HTTP/1.1', 'PRI * HTTP/2.0', 'CONNECT a:1 HTTP/1.1', 'FOO / HTTP/1.1'],
  ...[
    'GET http://a/openapi.json HTTP/1.1',
    'GET // HTTP/1.1',
    'GET /\xff HTTP/1.1',
    'get / HTTP/1.1',
    '\r\n\r\nGET / HTTP/1.1',
  ],
  ...[
    'GET /  HTTP/1.1',
    'GET / HTTP/9.9',
    'OPTIONS * HTTP/1.1',
    'TRACE / HTTP/1.1',
    `GET /${'a'.repeat(17_000)} HTTP/1.1`,
  ],
];

const oddChunks = [
  ...[
    '2\r\n{}\r\n0\r\n\r\n',
    '2;a=b\r\n{}\r\n0\r\nX: 1\r\n\r\n',
    '-2\r\n{}\r\n0\r\n\r\n',
    '2\n{}\n0\n\n',
    '0x2\r\n{}\r\n0\r\n\r\n',
  ],
  ...['ffffffffffffffff\r\n', '2\r\n{}', '1\r\n{}\r\n0\r\n\r\n', '00000002\r\n{}\r\n000\r\n\r\n', '0\r\n', '\r\n', ''],
];

/** A request whose bytes are damaged, or whose lines are others. */
function malformed(sound: HttpRequest): fc.Arbitrary<FuzzCase> {
  const damaged = fc.tuple(fc.boolean(), someDamage).map(([isChunked, damage]) => {
    return damage(toBytes(isChunked ? { ...sound, chunks: [3, 1] } : sound));
  });
  const [line = '', ...lines] = toBytes(sound).toString('latin1').split('\r\n');
  const head = lines.slice(0, lines.indexOf(''));
  const composed = fc
    .tuple(
      fc.oneof({ weight: 4, arbitrary: fc.constant(line) }, { weight: 1, arbitrary: fc.constantFrom(...requestLines) }),
      fc.array(fc.constantFrom(...oddLines), { maxLength: 3 }),
      fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r'),
      fc.constantFrom(...oddChunks, lines.at(-1) ?? ''),
      fc.constantFrom('', '', toBytes(sound).toString('latin1'), 'x', '\0'),
    )
    .map(([first, more, end, body, next]) => {
      return Buffer.from([first, ...more, ...head, '', body].join(end) + next, 'latin1');
    });
  return fc.oneof(damaged, composed).map((bytes) => ({ way: 'raw', bytes }));
}

/** Some requests on one connection, sent at once. */
function pipelined(sound: HttpRequest): fc.Arbitrary<FuzzCase> {
  const request = fc
    .tuple(fc.constantFrom('sound', 'sound', 'chunked', 'nowhere', 'stranger', 'other method'), fc.nat(99_999))
    .map(([form, id]): HttpRequest => {
      const named = { ...sound, headers: [...sound.headers, ['X-Request-Id', `fuzz-${id}`] as const] };
      if (form === 'chunked') return { ...named, chunks: [1, 5] };
      if (form === 'nowhere') return { ...named, target: '/nowhere' };
      if (form === 'stranger') return { ...named, headers: named.headers.filter(([name]) => name !== owner[0]) };
      return form === 'other method' ? { ...named, method: 'PUT' } : named;
    });
  return fc.array(request, { minLength: 2, maxLength: 8 }).map((requests) => ({ way: 'pipelined', requests }));
}

/** HTTP/2: streams that end or do not, and frames of any kind. */
function http2(sound: HttpRequest): fc.Arbitrary<FuzzCase> {
  const streams = fc
    .tuple(
      fc.constantFrom(...['POST', 'GET', 'DELETE', 'HEAD', ...Array<string>(4).fill(sound.method)]),
      fc.constantFrom(...Array<string>(5).fill(sound.target), '/', '/%ff', '*'),
      fc.nat(9),
    )
    .map(
      ([method, target, n]): FuzzCase => ({
        ...{ way: 'http2', isReset: n === 0 },
        request: { ...sound, method, target, headers: forHttp2(sound.headers) },
      }),
    );
  const frame = fc
    .tuple(
      fc.oneof({ weight: 5, arbitrary: fc.nat(9) }, { weight: 1, arbitrary: fc.nat(255) }),
      fc.constantFrom(0, 1, 4, 5, 8, 0x20, 0x25, 0xff),
      fc.constantFrom(0, 1, 1, 3, 2 ** 31 - 1),
      fc.uint8Array({ maxLength: 40 }),
      fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(1, 1_000, 70_000) }),
    )
    .map(([type, flags, stream, payload, tooLong]) => {
      const head = Buffer.alloc(9);
      head.writeUIntBE(Math.min(payload.length + tooLong, 2 ** 24 - 1), 0, 3);
      head.writeUInt8(type, 3);
      head.writeUInt8(flags, 4);
      head.writeUInt32BE(stream, 5);
      return Buffer.concat([head, payload]);
    });
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
  // :method GET, :scheme http, :path /, :authority a
  const request = Buffer.from('000006010500000001828684410161', 'hex');
  const frames = fc
    .tuple(fc.constantFrom([settings], [settings, request], []), fc.array(frame, { minLength: 1, maxLength: 5 }))
    .map(([start, rest]): FuzzCase => ({ way: 'frames', bytes: Buffer.concat([preface, ...start, ...rest]) }));
  return fc.oneof({ weight: 3, arbitrary: streams }, { weight: 1, arbitrary: frames });
}

/** What comes as bytes: to each function in the form of its own sound request. */
export function wire(sound: HttpRequest): readonly Kind[] {
  const status = sound.method === 'DELETE' ? '404 (5)' : '200';
  return [
    { name: 'HTTP bytes', weight: 3, cases: malformed(sound), reaches: ['400 (3)'] },
    { name: 'pipelining', weight: 1, cases: pipelined(sound), reaches: [status, '401 (16)', '405 (12)'] },
    { name: 'HTTP/2', weight: 1, cases: http2(sound), reaches: [status, 'closed'] },
  ];
}
