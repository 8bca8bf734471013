import type { DescMethod } from '@bufbuild/protobuf';
import { AdminService } from '@zitadel/proto/zitadel/admin_pb.js';
import { AuthService } from '@zitadel/proto/zitadel/auth_pb.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listZitadelOrganisations } from '../../../cli/zitadel/export/exportContent.ts';
import { readCaller, readInstance, recogniseZitadel } from '../../../cli/zitadel/zitadelInstance.ts';
import { zitadelText } from '../../support/fixtures/organisations.ts';
import { startServer } from '../../support/places/fakeInstance.ts';
import { connectTo } from '../../support/zitadel/connect.ts';
import { grpcWeb, replies } from '../../support/zitadel/replies.ts';
import { startZitadel } from '../../support/zitadel/standIn.ts';

describe('the administration of a ZITADEL', () => {
  it('recognises one by its OpenID configuration, and no other server', async () => {
    const zitadel = await startZitadel();
    expect(await recogniseZitadel(connectTo(zitadel, 'wrong'))).toEqual({ service: 'zitadel', version: undefined });
    const url = await startServer((_request, response) => response.end('{"issuer":"https://other.example"}'));
    expect(await recogniseZitadel(connectTo({ url }))).toBe(
      '/.well-known/openid-configuration describes another service',
    );
  });
});

const recordings = z.array(
  z.looseObject({
    name: z.string(),
    request: z.looseObject({ method: z.string(), path: z.string() }),
    status: z.number(),
    body: z.unknown(),
  }),
);

const { getMyInstance, getDefaultOrg, listOrgs } = AdminService.method;
const { getMyUser, listMyMemberships } = AuthService.method;
/** The methods of the recorded calls, which were made over REST. */
const methods: Readonly<Record<string, DescMethod>> = {
  'GET /admin/v1/instances/me': getMyInstance,
  'GET /admin/v1/orgs/default': getDefaultOrg,
  'POST /admin/v1/orgs/_search': listOrgs,
  'GET /auth/v1/users/me': getMyUser,
  'POST /auth/v1/memberships/me/_search': listMyMemberships,
};

/** Starts a server that gives the recorded answer to each recorded call, the first one of several. */
function startRecorded(): Promise<string> {
  const recorded = recordings.parse(JSON.parse(zitadelText('administration')));
  return startServer((request, response) => {
    const called = Object.entries(methods).find(([, rpc]) => request.url === `/${rpc.parent.typeName}/${rpc.name}`);
    const [name = `${request.method} ${request.url}`, rpc] = called ?? [];
    const found = recorded.find((one) => `${one.request.method} ${one.request.path}` === name);
    const reply = replies.json(found?.status ?? 599, found?.body ?? {});
    const { status, type, content } = rpc === undefined ? reply : grpcWeb(rpc.output, reply, '4.0');
    response.writeHead(status, { 'content-type': type }).end(content);
  });
}

describe('the recorded answers of a ZITADEL', () => {
  it('are understood', async () => {
    const connection = connectTo({ url: await startRecorded() });
    expect(await recogniseZitadel(connection)).toMatchObject({ service: 'zitadel' });
    expect(await readInstance(connection)).toEqual({
      instance: 'ZITADEL',
      instanceId: '400632721778412582',
      version: undefined,
      defaultOrgId: '400632721778478118',
      defaultOrgName: 'ZITADEL',
      domains: ['localhost', 'zitadel-lpqwrk.localhost'],
    });
    expect(await readCaller(connection)).toEqual({
      userId: '400632721779002406',
      orgId: '400632721778478118',
      roles: ['IAM_OWNER'],
    });
    expect([...(await listZitadelOrganisations(connection))]).toEqual([
      ['400632721778478118', { name: 'ZITADEL', state: 'ORG_STATE_ACTIVE' }],
      ['791796202000000003', { name: 'Diff 791796202000000003', state: 'ORG_STATE_ACTIVE' }],
    ]);
  });
});
