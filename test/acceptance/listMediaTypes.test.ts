import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  AuthenticationMethodType,
  ListAuthenticationMethodTypesRequestSchema,
  ListAuthenticationMethodTypesResponseSchema,
} from '@zitadel/proto/zitadel/user/v2/user_service_pb.js';
import { beforeAll, expect, it } from 'vitest';
import { peopleOf, sampleOrganisation } from '../support/fixtures/sampleOrganisation.ts';
import { type Frame, frame, framesOf, requestWithTrailers } from '../support/http/grpcFrames.ts';
import { importInto, parseOk, send } from '../support/http/wire.ts';
import { describeDeployment } from '../support/instances/deployments.ts';

const { TOTP, OTP_EMAIL, PASSWORD } = AuthenticationMethodType;
const names = ['TOTP', 'OTP_EMAIL', 'PASSWORD'].map((name) => `AUTHENTICATION_METHOD_TYPE_${name}`);
const wrongDomain =
  'invalid ListAuthenticationMethodTypesRequest.DomainQuery: embedded message failed validation | caused by: invalid DomainQuery.Domain: value length must be between 1 and 200 runes, inclusive';

const decode = (bytes: Uint8Array) => fromBinary(ListAuthenticationMethodTypesResponseSchema, bytes);
const decodeFrame = ({ data }: Frame = { flags: 0, data: Buffer.alloc(0) }) => decode(data);
const all = { details: { totalResult: 3n }, authMethodTypes: [TOTP, OTP_EMAIL, PASSWORD] };

describeDeployment('the list of authentication methods', (get) => {
  const organisation = sampleOrganisation();
  const { ada } = peopleOf(organisation);
  beforeAll(async () => {
    await importInto(get().target, { data_orgs: { orgs: [organisation] } });
  });

  const authorised = () => ({ authorization: `Bearer ${get().target.token}` });
  const list = (accept: string, query = '', headers = authorised()) => {
    const url = `${get().target.url}/v2/users/${ada}/authentication_methods${query}`;
    return requestWithTrailers('GET', url, { accept, ...headers });
  };
  const call = (contentType: string, body: string | Uint8Array<ArrayBuffer>) => {
    const path = '/zitadel.user.v2.UserService/ListAuthenticationMethodTypes';
    return send(get().target, {
      method: 'POST',
      path,
      body,
      headers: { ...authorised(), 'content-type': contentType },
    });
  };
  const requestOf = (domainQuery?: { domain: string }) =>
    toBinary(
      ListAuthenticationMethodTypesRequestSchema,
      create(ListAuthenticationMethodTypesRequestSchema, {
        userId: ada,
        ...(domainQuery === undefined ? {} : { domainQuery }),
      }),
    );

  it.each(['application/json', '*/*', 'text/html'])('with Accept: %s is JSON', async (accept) => {
    const { status, headers, body } = await list(accept);
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(JSON.parse(body.toString())).toMatchObject({ details: { totalResult: '3' }, authMethodTypes: names });
  });

  it('with Accept: application/grpc-web+proto is in two frames', async () => {
    const { status, headers, body } = await list('application/grpc-web+proto', '?domainQuery.domain=example.com');
    expect([status, headers['content-type']]).toEqual([200, 'application/grpc-web+proto']);
    const [message, trailers, ...more] = framesOf(body);
    expect([trailers?.data.toString(), more]).toEqual(['grpc-status: 0\r\n', []]);
    expect(decodeFrame(message)).toMatchObject(all);
  });

  it('with Accept: application/grpc is in one frame, and its status in trailers', async () => {
    const { status, headers, body, trailers } = await list('application/grpc');
    expect([status, headers['content-type']]).toEqual([200, 'application/grpc+proto']);
    expect(framesOf(body).map(decodeFrame)).toMatchObject([all]);
    expect(trailers).toEqual({ 'grpc-status': '0' });
  });

  it.each(['application/grpc', 'application/grpc-web+proto'])(
    'refused with Accept: %s has the status of the interface, and that of gRPC with its message',
    async (accept) => {
      const answers = [
        [await list(accept, '?domainQuery.domain='), 400, '3', wrongDomain],
        [
          await list(accept, '?domainQuery.domain=a&domainQuery.includeWithoutDomain=2'),
          400,
          '3',
          'domainQuery.includeWithoutDomain: must be true or false, once',
        ],
        [await list(accept, '?domainQuery.domain=', { authorization: 'Bearer notreal' }), 401, '16', expect.anything()],
      ] as const;
      for (const [{ status, headers, body }, expected, code, message] of answers) {
        expect([status, body.length]).toEqual([expected, 0]);
        expect(headers).toMatchObject({ 'grpc-status': code, 'grpc-message': message });
      }
    },
  );

  it('over Connect is JSON or binary', async () => {
    const json = parseOk(await call('application/json', JSON.stringify({ userId: ada })));
    expect(json).toMatchObject({ details: { totalResult: '3' }, authMethodTypes: names });
    const response = await fetch(`${get().target.url}/zitadel.user.v2.UserService/ListAuthenticationMethodTypes`, {
      method: 'POST',
      headers: { ...authorised(), 'content-type': 'application/proto' },
      body: requestOf(),
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/proto']);
    expect(decode(new Uint8Array(await response.arrayBuffer()))).toMatchObject(all);
  });

  it('over gRPC-Web as text has its frames in base64', async () => {
    const body = frame(0, requestOf({ domain: 'example.com' })).toString('base64');
    const { status, text } = await call('application/grpc-web-text+proto', body);
    expect(status).toBe(200);
    expect(decodeFrame(framesOf(Buffer.from(text, 'base64'))[0])).toMatchObject(all);
  });

  it('over RPCs refuses a domain that is empty', async () => {
    const { headers } = await call('application/grpc-web+proto', frame(0, requestOf({ domain: '' })));
    expect([headers.get('grpc-status'), headers.get('grpc-message')]).toEqual(['3', wrongDomain]);
    const { status, text } = await call('application/json', JSON.stringify({ userId: ada, domainQuery: {} }));
    expect([status, JSON.parse(text)]).toMatchObject([400, { code: 'invalid_argument', message: wrongDomain }]);
  });
});
