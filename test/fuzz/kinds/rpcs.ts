import fc from 'fast-check';
import { framed } from '../arbitraries/bodies.ts';
import { fewHeaders, usualCaller } from '../arbitraries/headers.ts';
import { frames, jsonMessages, protoMessages } from '../arbitraries/rpcMessages.ts';
import type { GeneratedRequest, Kind, Known } from '../generatedRequest.ts';

const service = (version: string) => `/zitadel.user.${version}.UserService`;

/** The RPCs, and paths near them. */
const paths = [
  ...['RemoveOTPEmail', 'RemoveOTPEmail', 'ListAuthenticationMethodTypes'].map((name) => `${service('v2')}/${name}`),
  `${service('v2beta')}/RemoveOTPEmail`,
  `${service('v2beta')}/ListAuthenticationMethodTypes`,
];
const nearPaths = [
  `${service('v2')}/RemoveOTPSMS`,
  `${service('v3')}/RemoveOTPEmail`,
  '/zitadel.admin.v1.AdminService/ExportData',
];
const path = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...paths) },
  { weight: 1, arbitrary: fc.constantFrom(...nearPaths) },
);

const grpcTimeouts = ['1n', '5m', '30S', '1H', '99999999H', '0S', '1', 'x'];
const connectTimeouts = ['1', '50', '30000', '0', '-1', '99999999999', 'x'];

function sometimes(name: string, values: readonly string[]): fc.Arbitrary<GeneratedRequest['headers']> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.constantFrom(...values).map((value) => [[name, value] as const]) },
  );
}

/** Calls by one protocol's content types; `own` are the headers of the protocol. */
function calls(
  types: readonly string[],
  content: fc.Arbitrary<Pick<GeneratedRequest, 'headers' | 'body' | 'plain'>>,
  own: readonly fc.Arbitrary<GeneratedRequest['headers']>[],
): fc.Arbitrary<GeneratedRequest> {
  return fc
    .tuple(path, fc.constantFrom(...types), usualCaller, fewHeaders, fc.tuple(...own), content)
    .map(([target, type, caller, more, ownHeaders, { headers, ...body }]) => ({
      ...{ method: 'POST', target, ...body },
      headers: [['Content-Type', type] as const, ...caller, ...ownHeaders.flat(), ...headers, ...more],
    }));
}

function whole(body: fc.Arbitrary<Buffer>) {
  return body.map((bytes) => ({ headers: [], body: bytes, plain: bytes }));
}

/** The calls of the three protocols, over HTTP/1 and HTTP/2. */
export function rpcs({ userIds }: Known): readonly Kind[] {
  const proto = protoMessages(userIds);
  const json = jsonMessages(userIds);
  const timeout = sometimes('Grpc-Timeout', grpcTimeouts);
  const encoding = sometimes('Grpc-Encoding', ['gzip', 'br', 'identity', 'zstd']);
  const connectTimeout = sometimes('Connect-Timeout-Ms', connectTimeouts);
  const version = sometimes('Connect-Protocol-Version', ['1', '2', '']);
  const grpc = fc.oneof(
    calls(['application/grpc', 'application/grpc+proto'], whole(frames(proto)), [timeout, encoding]),
    calls(['application/grpc+json'], whole(frames(json)), [timeout, encoding]),
  );
  const web = fc.oneof(
    calls(['application/grpc-web', 'application/grpc-web+proto'], whole(frames(proto)), [timeout, encoding]),
    calls(['application/grpc-web+json'], whole(frames(json)), [timeout, encoding]),
    calls(
      ['application/grpc-web-text', 'application/grpc-web-text+proto'],
      whole(frames(proto).map((bytes) => Buffer.from(bytes.toString('base64')))),
      [timeout],
    ),
  );
  const connect = fc.oneof(
    calls(['application/json', 'application/json; charset=utf-8'], framed(json), [connectTimeout, version]),
    calls(['application/proto'], framed(proto), [connectTimeout, version]),
    calls(['application/connect+json', 'application/connect+proto'], framed(frames(json)), [connectTimeout]),
  );
  const overHttp2 = grpc.map((request) => ({
    ...request,
    isHttp2: true,
    headers: forHttp2([...request.headers, ['te', 'trailers']]),
  }));
  return [
    { name: 'Connect', weight: 3, requests: connect, reaches: ['200', '400 invalid_argument', '404 not_found'] },
    { name: 'gRPC', weight: 2, requests: overHttp2, reaches: ['200, grpc-status 0', '200, grpc-status 3'] },
    { name: 'gRPC over HTTP/1', weight: 1, requests: grpc, reaches: ['200, grpc-status 3'] },
    { name: 'gRPC-Web', weight: 2, requests: web, reaches: ['200, grpc-status 0', '200, grpc-status 3'] },
  ];
}

const ofConnection = /^(connection|upgrade|te|transfer-encoding|expect|keep-alive|host|content-length)$/i;

/** The headers that HTTP/2 allows, each once. */
function forHttp2(headers: GeneratedRequest['headers']): GeneratedRequest['headers'] {
  const allowed = headers.filter(([name, value]) => !ofConnection.test(name) || value === 'trailers');
  return [...new Map(allowed.map(([name, value]) => [name.toLowerCase(), value.replace(/[^ -~]/g, '')]))];
}
