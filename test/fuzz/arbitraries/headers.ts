import fc from 'fast-check';
import { type GeneratedRequest, OWNER } from '../generatedRequest.ts';
import { anyString } from './junk.ts';

type Header = GeneratedRequest['headers'][number];

const jsonType = 'application/json';

/** Values that the service reads, near ones, and any other. */
const values: Readonly<Record<string, readonly string[]>> = {
  Authorization: [
    'Bearer',
    'bearer x',
    'Basic YTpi',
    `Bearer ${OWNER}x`,
    `Bearer  ${OWNER}`,
    `Bearer ${OWNER}, Bearer x`,
  ],
  'Content-Type': [
    ...[jsonType, 'application/json; charset=utf-8', 'application/json; charset=utf-16', 'text/html', 'text/plain'],
    ...[
      'application/proto',
      'application/grpc',
      'application/grpc+proto',
      'application/grpc+json',
      'application/grpc-web',
    ],
    ...['application/grpc-web-text', 'application/grpc-web-text+proto', 'application/connect+json', 'APPLICATION/JSON'],
    ...['multipart/form-data; boundary=x', 'application/x-www-form-urlencoded', '', ';', 'application/grpc; x'],
  ],
  Accept: [
    ...['*/*', jsonType, 'text/html', 'application/grpc', 'application/grpc-web', 'application/grpc-web+proto'],
    ...['application/grpc+proto;q=0.5, */*;q=0.1', 'application/json;q=0', 'q=1;;,', 'application/grpc;q=NaN', ''],
  ],
  'Accept-Encoding': ['gzip', 'br', 'identity;q=0', '*;q=0', 'zstd'],
  'X-Request-Id': ['fuzz', 'a b', 'x'.repeat(64), 'x'.repeat(65), '../x', '"}'],
  'X-Forwarded-For': ['1.2.3.4', '1.2.3.4, 5.6.7.8', '::1', ',', 'unknown', '999.1.1.1'],
  'X-Cloud-Trace-Context': ['105445aa7843bc8bf206b12000100000/1;o=1', '/;', 'x'],
  Traceparent: ['00-105445aa7843bc8bf206b12000100000-00f067aa0ba902b7-01', '00-', 'ff-x-y-z'],
  Origin: ['https://console.example', 'null', 'x'],
  'Access-Control-Request-Method': ['POST', ''],
  'Connect-Protocol-Version': ['1', '2', ''],
  'Connect-Timeout-Ms': ['1', '0', '-1', '10000', '99999999999', 'x'],
  'Grpc-Timeout': ['1n', '99999999S', '1S', '0S', '99999999H', '100000000H', '1', 'S', '-1S', '1x'],
  'Grpc-Encoding': ['gzip', 'br', 'identity', 'zstd', ''],
  'Grpc-Accept-Encoding': ['gzip', 'identity', 'x,,y'],
  Range: ['bytes=0-1', 'bytes=9-1'],
  'If-None-Match': ['*', '"x"'],
  Cookie: ['a=b', '='],
  'X-HTTP-Method-Override': ['DELETE', 'GET'],
};

const named: fc.Arbitrary<Header> = fc.constantFrom(
  ...Object.entries(values).flatMap(([name, all]) => all.map((value): Header => [name, value])),
);

/** A header's value may have any characters but controls, in Latin-1. */
const free = fc.tuple(fc.constantFrom('X-Fuzz', ...Object.keys(values)), anyString).map(([name, text]): Header => {
  const value = Buffer.from(text)
    .toString('latin1')
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '');
  return [name, value.slice(0, 4_000).trim()];
});

/** Some headers of sound HTTP, most of them without a meaning here. */
export const someHeaders: fc.Arbitrary<readonly Header[]> = fc.array(
  fc.oneof({ weight: 3, arbitrary: named }, { weight: 1, arbitrary: free }),
  { maxLength: 4 },
);

/** The owner's token, or rarely none. */
export const usualCaller: fc.Arbitrary<readonly Header[]> = fc.oneof(
  { weight: 12, arbitrary: fc.constant([['Authorization', `Bearer ${OWNER}`] as const]) },
  { weight: 1, arbitrary: fc.constant([]) },
);

/** Headers for a request that tests another part: usually none. */
export const fewHeaders: fc.Arbitrary<readonly Header[]> = fc.oneof(
  { weight: 6, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: someHeaders },
);
