import { gzipSync } from 'node:zlib';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  RemoveOTPEmailRequestSchema,
  RemoveOTPEmailResponseSchema,
} from '@zitadel/proto/zitadel/user/v2/user_service_pb.js';
import { beforeEach, expect, it } from 'vitest';
import { peopleOf, sampleOrganisation } from '../support/fixtures/sampleOrganisation.ts';
import { type Frame, frame, framesOf, requestWithTrailers } from '../support/http/grpcFrames.ts';
import { requestHttp2 } from '../support/http/http2.ts';
import { expectError, importInto, parseOk, removeOtpEmail, send } from '../support/http/wire.ts';
import { describeDeployment } from '../support/instances/deployments.ts';

const rpcPath = '/zitadel.user.v2.UserService/RemoveOTPEmail';
const noFactor = "Multifactor OTP (OneTimePassword) doesn't exist (COMMAND-b312D)";

const requestFor = (userId: string) =>
  toBinary(RemoveOTPEmailRequestSchema, create(RemoveOTPEmailRequestSchema, { userId }));

const ownerIn = ({ data }: Frame = { flags: 0, data: Buffer.alloc(0) }) =>
  fromBinary(RemoveOTPEmailResponseSchema, data).details?.resourceOwner;

describeDeployment('a removal', (get) => {
  let organisation = sampleOrganisation();
  let ada = '';
  beforeEach(async () => {
    organisation = sampleOrganisation();
    ada = peopleOf(organisation).ada;
    await importInto(get().target, { data_orgs: { orgs: [organisation] } });
  });

  const authorised = () => ({ authorization: `Bearer ${get().target.token}` });

  const remove = (accept: string, headers = authorised()) =>
    requestWithTrailers('DELETE', `${get().target.url}/v2/users/${ada}/otp_email`, { accept, ...headers });

  const callText = async (contentType: string, body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
    send(get().target, {
      method: 'POST',
      path: rpcPath,
      body,
      headers: { ...authorised(), 'content-type': contentType, ...headers },
    });

  it.each([
    '*/*',
    'application/*',
    'text/html',
    'application/json, application/grpc',
    'application/grpc;q=0.5, application/json',
  ])('with Accept: %s gets a JSON response', async (accept) => {
    const path = `/v2/users/${ada}/otp_email`;
    const { token } = get().target;
    parseOk(await send(get().target, { method: 'DELETE', path, token, headers: { accept } }));
  });

  it('with Accept: application/grpc-web+proto gets frames, the last of which is the status', async () => {
    const { status, headers, body } = await remove('application/grpc-web+proto');
    expect([status, headers['content-type']]).toEqual([200, 'application/grpc-web+proto']);
    const [message, trailers, ...more] = framesOf(body);
    expect([message?.flags, trailers?.flags, more]).toEqual([0, 0x80, []]);
    expect(ownerIn(message)).toBe(organisation.orgId);
    expect(trailers?.data.toString()).toBe('grpc-status: 0\r\n');
  });

  it.each(['application/grpc', 'application/grpc+proto;q=0.9, application/json;q=0.1'])(
    'with Accept: %s gets a frame, and the status in trailers',
    async (accept) => {
      const { status, headers, body, trailers } = await remove(accept);
      expect([status, headers['content-type']]).toEqual([200, 'application/grpc+proto']);
      expect(headers.trailer).toBe('grpc-status');
      expect(framesOf(body).map(ownerIn)).toEqual([organisation.orgId]);
      expect(trailers).toEqual({ 'grpc-status': '0' });
    },
  );

  it('with Accept: application/grpc over HTTP/2 gets the same', async ({ skip }) => {
    if (process.env.ACCEPTANCE_HTTP1 === 'true') skip('ACCEPTANCE_HTTP1 is set');
    const headers = { ...authorised(), accept: 'application/grpc' };
    const answer = await requestHttp2(get().target.url, {
      method: 'DELETE',
      path: `/v2/users/${ada}/otp_email`,
      headers,
    });
    expect(answer).toMatchObject({ status: 200, trailers: { 'grpc-status': '0' } });
  });

  it.each(['application/grpc', 'application/grpc-web+proto'])(
    'rejected with Accept: %s gets the status of the interface, and that of gRPC with its message',
    async (accept) => {
      await removeOtpEmail(get().target, ada);
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

  it.each(['application/grpc-web-text', 'application/grpc-web-text+proto'])(
    'as %s gets frames in base64',
    async (type) => {
      const body = frame(0, requestFor(ada)).toString('base64');
      const answer = await callText(type, body);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
      const [message, trailers] = framesOf(Buffer.from(answer.text, 'base64'));
      expect(ownerIn(message)).toBe(organisation.orgId);
      expect(trailers?.data.toString()).toBe('grpc-status: 0\r\n');
      const again = await callText(type, body);
      expect([again.status, again.text, again.headers.get('grpc-status')]).toEqual([200, '', '5']);
    },
  );

  it.each(['text/plain', 'application/xml', 'application/grpc+thrift', 'application/connect+json', ''])(
    'as %j gets 415',
    async (type) => {
      expectError(await callText(type, new Uint8Array()), 415, 3);
    },
  );

  it('with a message that inflates beyond the limit is rejected, and only once the token is valid', async () => {
    const bomb = frame(1, gzipSync(Buffer.alloc(10_000_000)));
    const headers = { 'grpc-encoding': 'gzip' };
    const refused = await callText('application/grpc-web+proto', bomb, headers);
    expect(refused.headers.get('grpc-status')).toBe('8');
    const stranger = await callText('application/grpc-web+proto', bomb, {
      ...headers,
      authorization: 'Bearer notreal',
    });
    expect(stranger.headers.get('grpc-status')).toBe('16');
    const connect = await callText('application/json', gzipSync(Buffer.alloc(10_000_000)), {
      'content-encoding': 'gzip',
    });
    expect([connect.status, JSON.parse(connect.text).code]).toEqual([429, 'resource_exhausted']);
  });

  it('with a message in an unknown compression gets a list of the known ones', async () => {
    const answer = await callText('application/grpc-web+proto', frame(1, requestFor(ada)), { 'grpc-encoding': 'zstd' });
    expect(answer.headers.get('grpc-status')).toBe('12');
    expect(answer.headers.get('grpc-message')).toContain('gzip,br');
  });

  it.each([
    ['an empty body', Buffer.alloc(0)],
    ['a truncated frame', frame(0, requestFor('1')).subarray(0, 4)],
    ['a frame of 4 GB', Buffer.from([0, 255, 255, 255, 255, 1])],
    ['no protobuf', frame(0, Buffer.alloc(9, 255))],
    ['two messages', Buffer.concat([frame(0, requestFor('1')), frame(0, requestFor('1'))])],
  ])('as gRPC-Web with %s is rejected', async (_name, body) => {
    const answer = await callText('application/grpc-web+proto', body);
    expect(answer.status).toBe(200);
    expect(['3', '8', '12', '13']).toContain(answer.headers.get('grpc-status'));
  });
});
