import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { findTrailerError } from '@connectrpc/connect/protocol-grpc';
import {
  RemoveOTPEmailRequestSchema,
  RemoveOTPEmailResponseSchema,
} from '@zitadel/proto/zitadel/user/v2/user_service_pb.js';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { enableOtpEmail } from '../../shared/accounts/userAccounts.ts';
import { requestTooLarge } from '../../shared/errors/errors.ts';
import { errorResponse } from '../../shared/http/responses.ts';
import { type RunningServer, serve } from '../../shared/http/server.ts';
import type { Store } from '../../shared/store/store.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { type Frame, frame, framesOf, requestWithTrailers } from '../support/http/grpcFrames.ts';
import { requestHttp2 } from '../support/http/http2.ts';
import { type TestInstance, testInstance } from '../support/instances/testInstance.ts';
import { openTestStore, setUpOnce } from '../support/stores/stores.ts';

const restPath = '/v2/users/ada/otp_email';
const rpcPath = '/zitadel.user.v2.UserService/RemoveOTPEmail';
const noFactor = "Multifactor OTP (OneTimePassword) doesn't exist (COMMAND-b312D)";
const COMPRESSED = 1;

const opened = setUpOnce(async () => {
  const store = await openTestStore();
  const instance = await testInstance(store, 'test');
  await instance.import({ data_orgs: { orgs: [organisation('O', { humanUsers: [person('ada')] })] } });
  return { store, instance };
});
let store: Store;
let instance: TestInstance;
let serving: RunningServer;
beforeAll(async () => {
  ({ store, instance } = opened());
  serving = await serve({ app: instance.app, host: '127.0.0.1', port: 0 });
  return async () => void (await serving.close());
});

// The removal of a row succeeds, if it reaches the user.
beforeEach(async () => {
  const { otpEmail } = (await store.getMany([{ collection: 'users', id: 'ada' }], ['otpEmail']))[0] ?? {};
  if (otpEmail !== true) await enableOtpEmail(store, 'ada', new Date());
});

const authorised = () => ({ authorization: `Bearer ${instance.token}` });
const requestFor = (userId: string) =>
  toBinary(RemoveOTPEmailRequestSchema, create(RemoveOTPEmailRequestSchema, { userId }));
const ownerIn = ({ data }: Frame) => fromBinary(RemoveOTPEmailResponseSchema, data).details?.resourceOwner;

describe('a removal over REST', () => {
  const remove = (accept: string, headers: Record<string, string> = authorised()) =>
    requestWithTrailers('DELETE', `${serving.url}${restPath}`, { accept, ...headers });

  it.each([
    '*/*',
    'application/*',
    'text/html',
    'application/json, application/grpc',
    'application/grpc;q=0.5, application/json',
  ])('with Accept: %s gets a JSON response', async (accept) => {
    const { status, headers, body } = await remove(accept);
    expect([status, headers['content-type'], JSON.parse(body.toString())]).toMatchObject([
      200,
      'application/json',
      { details: { resourceOwner: 'O' } },
    ]);
  });

  it('with Accept: application/grpc-web+proto gets frames, the last of which is the status', async () => {
    const { status, headers, body } = await remove('application/grpc-web+proto');
    expect([status, headers['content-type']]).toEqual([200, 'application/grpc-web+proto']);
    const frames = framesOf(body);
    expect(frames.map(({ flags }) => flags)).toEqual([0, 0x80]);
    expect(frames.slice(0, 1).map(ownerIn)).toEqual(['O']);
    expect(frames[1]?.data.toString()).toBe('grpc-status: 0\r\n');
  });

  it.each(['application/grpc', 'application/grpc+proto;q=0.9, application/json;q=0.1'])(
    'with Accept: %s gets a frame, and the status in trailers',
    async (accept) => {
      const { status, headers, body, trailers } = await remove(accept);
      expect([status, headers['content-type'], headers.trailer]).toEqual([
        200,
        'application/grpc+proto',
        'grpc-status',
      ]);
      expect(framesOf(body).map(ownerIn)).toEqual(['O']);
      expect(trailers).toEqual({ 'grpc-status': '0' });
    },
  );

  it('with Accept: application/grpc over HTTP/2 gets the same', async () => {
    const headers = { ...authorised(), accept: 'application/grpc' };
    const answer = await requestHttp2(serving.url, { method: 'DELETE', path: restPath, headers });
    expect(answer).toMatchObject({ status: 200, trailers: { 'grpc-status': '0' } });
  });

  it.each(['application/grpc', 'application/grpc-web+proto'])(
    'rejected with Accept: %s gets the status of the interface, and that of gRPC with its message',
    async (accept) => {
      await remove('application/json');
      const { status, headers, body } = await remove(accept);
      expect([status, body.length]).toEqual([404, 0]);
      expect(headers).toMatchObject({ 'grpc-status': '5', 'grpc-message': noFactor });
      expect(Buffer.from(String(headers['grpc-status-details-bin']), 'base64').toString('latin1')).toContain(
        'type.googleapis.com/zitadel.v1.ErrorDetail',
      );
      expect(await remove(accept, { authorization: 'Bearer notreal' })).toMatchObject({
        status: 401,
        headers: { 'grpc-status': '16' },
      });
    },
  );
});

type Body = Uint8Array<ArrayBuffer> | ReadableStream;

const call = (type: string, body: Body, more: Readonly<Record<string, string>> = {}, path = rpcPath) =>
  fetch(serving.url + path, {
    method: 'POST',
    body,
    headers: { ...authorised(), 'content-type': type, ...more },
    duplex: 'half',
  });

describe('a removal over gRPC-Web in base64', () => {
  it.each(['application/grpc-web-text', 'application/grpc-web-text+proto'])(
    'as %s gets frames in base64',
    async (type) => {
      const body = Buffer.from(frame(0, requestFor('ada')).toString('base64'));
      const response = await call(type, body);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
      const frames = framesOf(Buffer.from(await response.text(), 'base64'));
      expect(frames.slice(0, 1).map(ownerIn)).toEqual(['O']);
      expect(frames[1]?.data.toString()).toBe('grpc-status: 0\r\n');
      const again = await call(type, body);
      expect([again.status, await again.text(), again.headers.get('grpc-status')]).toEqual([200, '', '5']);
    },
  );
});

/** A request to the RPC, and the outcome: the HTTP status with that of gRPC or the code of Connect. */
type Row = readonly [
  name: string,
  type: string,
  body: Body,
  outcome: string,
  headers?: Readonly<Record<string, string>>,
];

const bytes = (...values: number[]) => Buffer.from(values);
const neverEnding = (first: number) => new ReadableStream({ start: (controller) => controller.enqueue(bytes(first)) });
/** The rest of the body arrives after a timer that overflows would have ended the call. */
function late(body: Buffer<ArrayBuffer>): ReadableStream {
  let pulls = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        pulls += 1;
        if (pulls === 1) return controller.enqueue(body.subarray(0, 1));
        await setTimeout(50);
        controller.enqueue(body.subarray(1));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
const endless = bytes(0x0a, 0xff, 0xff, 0xff, 0xff);
const truncated = Buffer.from(gzipSync(Buffer.alloc(1_000)).subarray(0, 15));
const bomb = Buffer.from(gzipSync(Buffer.alloc(10_000_000)));
const one = frame(0, requestFor('1'));
const grpcTypes = ['application/grpc', 'application/grpc-web'];
const INVALID = '400 invalid_argument';
const stranger = { authorization: 'Bearer notreal' };
const gzip = { 'grpc-encoding': 'gzip' };
const inGzip = { 'content-encoding': 'gzip' };

const messages: readonly (readonly [name: string, body: Buffer<ArrayBuffer>])[] = [
  ['a length beyond the end', endless],
  ['an invalid field', bytes(0x07)],
  ['text that is not UTF-8', bytes(0x0a, 0x01, 0xff)],
];

/** JSON whose parser quotes half a character in its error. */
const halfCharacters = ['"\\ud800"', `z${'\u{1f600}'.repeat(10)}`].map((text) => Buffer.from(text));

const rows: readonly Row[] = [
  ...['text/plain', 'application/xml', 'application/grpc+thrift', 'application/connect+json', ''].map(
    (type): Row => ['an unknown media type', type, bytes(), '415 3'],
  ),
  ...messages.map(([name, body]): Row => [name, 'application/proto', body, INVALID]),
  ['a truncated compression', 'application/proto', truncated, INVALID, inGzip],
  ['JSON as binary', 'application/proto', Buffer.from('{"userId":"1"}'), INVALID],
  ...grpcTypes.flatMap((type): Row[] => [
    ...messages.map(([name, body]): Row => [name, type, frame(0, body), '200 3']),
    ['no protobuf', type, frame(0, Buffer.alloc(9, 255)), '200 3'],
    ['a truncated compression', type, frame(COMPRESSED, truncated), '200 3', gzip],
    ['a compression that no header names', type, frame(COMPRESSED, Buffer.alloc(3)), '200 3'],
    ['an unknown compression', type, frame(COMPRESSED, requestFor('1')), '200 12', { 'grpc-encoding': 'zstd' }],
    ['more than the limit, once inflated', type, frame(COMPRESSED, bomb), '200 8', gzip],
    ['more than the limit, of a stranger', type, frame(COMPRESSED, bomb), '200 16', { ...gzip, ...stranger }],
    ['no message', type, bytes(), '200 12'],
    ['half a frame', type, bytes(0, 0), '200 3'],
    ['a truncated frame', type, one.subarray(0, 4), '200 3'],
    ['a frame of 4 GB', type, bytes(0, 255, 255, 255, 255, 1), '200 8'],
    ['two messages', type, Buffer.concat([one, one]), '200 12'],
    ['a sound message', type, one, '200 5'],
    ['a late message and years of time', type, late(one), '200 5', { 'grpc-timeout': '99999999H' }],
    ['a message after its time', type, frame(COMPRESSED, bytes()), '200 4', { 'grpc-timeout': '0S' }],
    ['a message that never arrives', type, neverEnding(0), '200 4', { 'grpc-timeout': '50m' }],
  ]),
  ['a length beyond the end', 'application/grpc-web-text', Buffer.from(frame(0, endless).toString('base64')), '200 3'],
  ...halfCharacters.flatMap((body): Row[] => [
    ...grpcTypes.map((type): Row => ['half a character', `${type}+json`, frame(0, body), '200 3']),
    ['half a character', 'application/json', body, INVALID],
  ]),
  ['more than the limit, once inflated', 'application/json', bomb, '429 resource_exhausted', inGzip],
  ['a sound message', 'application/proto', requestFor('1'), '404 not_found'],
  [
    'a late message and months of time',
    'application/proto',
    late(Buffer.from(requestFor('1'))),
    '404 not_found',
    { 'connect-timeout-ms': '9999999999' },
  ],
  [
    'a message that never arrives',
    'application/json',
    neverEnding(123),
    '504 deadline_exceeded',
    { 'connect-timeout-ms': '50' },
  ],
  ['a malformed message of a stranger', 'application/proto', endless, '401 unauthenticated', stranger],
];

describe('an RPC', () => {
  it.each(rows.map(([name, type, body, outcome, headers]) => ({ name, type, body, outcome, headers })))(
    'with $name as $type is rejected',
    async ({ type, body, outcome, headers }) => {
      const response = await call(type, body, headers);
      const text = await response.text();
      const { code } = response.headers.get('content-type') === 'application/json' ? JSON.parse(text) : { code: '' };
      expect(`${response.status} ${response.headers.get('grpc-status') ?? code}`, text).toBe(outcome);
      if (outcome.startsWith('200')) expect(text).toBe('');
      if (outcome.endsWith(' 12') && headers !== undefined)
        expect(response.headers.get('grpc-message')).toContain('gzip,br');
    },
  );

  it('without a route is rejected as specified by gRPC, over both protocols', async () => {
    const headers = { 'content-type': 'application/grpc' };
    const path = '/acme.Service/Method';
    const refused = {
      'content-type': 'application/grpc',
      'grpc-status': '12',
      'grpc-message': 'unknown service or method',
    };
    const answer = await requestHttp2(serving.url, { method: 'POST', path, headers });
    expect(answer).toMatchObject({ status: 200, headers: refused, body: '' });
    const overHttp1 = await call('application/grpc', bytes(), {}, path);
    expect(Object.fromEntries(overHttp1.headers)).toMatchObject(refused);
  });

  it('at the path of REST gets its error in a status that gRPC clients can decode', async () => {
    const info = '\n\x11REQUEST_TOO_LARGE\x12\x08identity\x1a\x0b\n\x05limit\x12\x0210';
    const varint = (size: number) => String.fromCharCode((size & 0x7f) | 0x80, size >> 7);
    // With any number of bytes beyond a multiple of three.
    for (const advice of [200, 201, 202].map((length) => 'x'.repeat(length))) {
      const { headers } = errorResponse(requestTooLarge({ limit: 10, advice }), 'r', 'application/grpc');
      const entry = `\n\x06advice\x12${varint(advice.length)}${advice}`;
      const value = Uint8Array.from(Buffer.from(`${info}\x1a${varint(entry.length)}${entry}`, 'latin1'));
      expect(findTrailerError(headers)).toMatchObject({
        code: 8,
        rawMessage: `the request body exceeds 10 bytes: ${advice}`,
        details: [{ type: 'google.rpc.ErrorInfo', value }],
      });
      expect(headers.get('grpc-status-details-bin')).not.toContain('=');
    }
    const stranger = await call('application/grpc', bytes(), { authorization: '' }, '/admin/v1/import');
    expect([stranger.headers.get('grpc-status'), stranger.headers.has('grpc-status-details-bin')]).toEqual([
      '16',
      false,
    ]);
  });
});
