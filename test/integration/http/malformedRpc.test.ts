import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { frame, framesOf } from '../../support/http/grpcFrames.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const path = '/zitadel.user.v2.UserService/RemoveOTPEmail';
const endless = Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff]);
const notText = Buffer.from([0x0a, 0x01, 0xff]);
const truncated = gzipSync(Buffer.alloc(1_000)).subarray(0, 15);
const COMPRESSED = 1;

interface Malformed {
  readonly name: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

const messages: readonly Malformed[] = [
  { name: 'a length beyond the end', body: endless },
  { name: 'an invalid field', body: Buffer.from([0x07]) },
  { name: 'text that is not UTF-8', body: notText },
];

const connectBodies: readonly Malformed[] = [
  ...messages,
  { name: 'a truncated compression', body: truncated, headers: { 'content-encoding': 'gzip' } },
  { name: 'JSON as binary', body: Buffer.from('{"userId":"1"}') },
];

const framedBodies: readonly Malformed[] = [
  ...messages.map(({ name, body }) => ({ name, body: frame(0, body) })),
  { name: 'a truncated compression', body: frame(COMPRESSED, truncated), headers: { 'grpc-encoding': 'gzip' } },
  { name: 'a compression that no header names', body: frame(COMPRESSED, Buffer.alloc(3)) },
  { name: 'half a frame', body: Buffer.from([0, 0]) },
];

/** JSON whose parser quotes half a character in its error. */
const halfCharacters = [
  { name: 'in a text', body: '"\\ud800"' },
  { name: 'at the end of what is quoted', body: `z${'\u{1f600}'.repeat(10)}` },
];

const endlessTimeouts = [
  { type: 'application/grpc', headers: { 'grpc-timeout': '99999999H' }, body: frame(0, Buffer.of()) },
  { type: 'application/grpc-web', headers: { 'grpc-timeout': '9999999S' }, body: frame(0, Buffer.of()) },
  { type: 'application/proto', headers: { 'connect-timeout-ms': '9999999999' }, body: Buffer.of() },
];

const connectError = z.looseObject({ code: z.string(), message: z.string() });

describe('a malformed RPC', () => {
  let instance: TestInstance;

  beforeEach(async () => {
    instance = await testInstance(await openTestStore(sqlite));
  });

  async function call(type: string, body: Malformed['body'] | ReadableStream, more: Malformed['headers'] = {}) {
    const headers = { 'content-type': type, authorization: `Bearer ${instance.token}`, ...more };
    return instance.app.request(path, { method: 'POST', body, headers, duplex: 'half' });
  }

  it.each(connectBodies)('gets 400 over Connect: $name', async ({ body, headers }) => {
    const response = await call('application/proto', body, headers);
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/json');
    const { code, message } = connectError.parse(await response.json());
    expect(code).toBe('invalid_argument');
    expect(message).not.toBe('');
  });

  it.each(framedBodies)('gets INVALID_ARGUMENT over gRPC and gRPC-Web: $name', async ({ body, headers }) => {
    for (const type of ['application/grpc', 'application/grpc-web']) {
      const response = await call(type, body, headers);
      expect([response.status, response.headers.get('grpc-status')]).toEqual([200, '3']);
    }
  });

  it('gets INVALID_ARGUMENT over gRPC-Web in base64', async () => {
    const body = Buffer.from(frame(0, endless).toString('base64'));
    const response = await call('application/grpc-web-text', body);
    expect([response.status, response.headers.get('grpc-status')]).toEqual([200, '3']);
    expect(framesOf(Buffer.from(await response.text(), 'base64'))).toEqual([]);
  });

  it.each(halfCharacters)('gets INVALID_ARGUMENT with half a character $name', async ({ body }) => {
    for (const type of ['application/grpc+json', 'application/grpc-web+json']) {
      const response = await call(type, frame(0, Buffer.from(body)));
      expect([response.status, response.headers.get('grpc-status')]).toEqual([200, '3']);
    }
    expect((await call('application/json', Buffer.from(body))).status).toBe(400);
  });

  it('gets DEADLINE_EXCEEDED if its timeout expires first', async () => {
    const response = await call('application/grpc', frame(COMPRESSED, Buffer.of()), { 'grpc-timeout': '0S' });
    expect([response.status, response.headers.get('grpc-status')]).toEqual([200, '4']);
  });

  it('gets DEADLINE_EXCEEDED if its timeout expires before its message arrives', async () => {
    const response = await call('application/grpc', new ReadableStream(), { 'grpc-timeout': '50m' });
    expect([response.status, response.headers.get('grpc-status')]).toEqual([200, '4']);
    expect((await call('application/json', new ReadableStream(), { 'connect-timeout-ms': '50' })).status).toBe(504);
  });

  it.each(endlessTimeouts)('is rejected for its message, not for a timeout of years: $type', async (row) => {
    const response = await call(row.type, row.body, row.headers);
    const status = response.headers.get('grpc-status') ?? response.status;
    expect(['3', 400]).toContain(status);
  });

  it('is not read without a token', async () => {
    const headers = { authorization: 'Bearer notreal' };
    expect((await call('application/proto', endless, headers)).status).toBe(401);
  });
});
