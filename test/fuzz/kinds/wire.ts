import fc from 'fast-check';
import { someDamage } from '../arbitraries/byteEdits.ts';
import { conversations } from '../arbitraries/http2Frames.ts';
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

/** HTTP/2, as Node's client speaks it: streams that end or do not. */
function http2(sound: HttpRequest): fc.Arbitrary<FuzzCase> {
  return fc
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
}

/** HTTP/2 as no client speaks it: windows, resets, priorities, continuations, trailers, and frames that are none. */
function http2Frames(sound: HttpRequest): fc.Arbitrary<FuzzCase> {
  const request = fc.tuple(fc.nat(9), fc.boolean()).map(([form, isStranger]): HttpRequest => {
    const headers = forHttp2(sound.headers.filter(([name]) => !isStranger || name !== owner[0]));
    if (form === 0) return { ...sound, headers, target: '/openapi.json', method: 'GET' };
    if (form === 1) return { ...sound, headers, method: 'HEAD' };
    return form === 2 ? { ...sound, headers, target: '/%ff' } : { ...sound, headers };
  });
  return conversations(request).map((conversation) => ({ way: 'conversation', ...conversation }));
}

/** What comes as bytes: to each function in the form of its own sound request. */
export function wire(sound: HttpRequest): readonly Kind[] {
  const status = sound.method === 'DELETE' ? '404 (5)' : '200';
  return [
    { name: 'HTTP bytes', weight: 3, cases: malformed(sound), reaches: ['400 (3)'] },
    { name: 'pipelining', weight: 1, cases: pipelined(sound), reaches: [status, '401 (16)', '405 (12)'] },
    { name: 'HTTP/2', weight: 1, cases: http2(sound), reaches: [status, 'reset'] },
    { name: 'HTTP/2 frames', weight: 2, cases: http2Frames(sound), reaches: [status, '401 (16)', 'none'] },
  ];
}
