import { once } from 'node:events';
import { createServer } from 'node:http';
import type { DescMessage } from '@bufbuild/protobuf';
import { ListPersonalAccessTokensResponseSchema } from '@zitadel/proto/zitadel/management_pb.js';
import { DeleteUserResponseSchema } from '@zitadel/proto/zitadel/user/v2/user_service_pb.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { listOrganisations } from '../../../cli/zitadel/export/exportContent.ts';
import {
  countTokens,
  deleteServiceUser,
  readCaller,
  readInstance,
  recogniseZitadel,
} from '../../../cli/zitadel/instance.ts';
import { zitadelText } from '../../support/fixtures/organisations.ts';
import { DEFAULT_ORGANISATION } from '../../support/zitadel/behaviour.ts';
import { connectTo } from '../../support/zitadel/connect.ts';
import { grpcWeb, replies } from '../../support/zitadel/replies.ts';
import { startZitadel } from '../../support/zitadel/standIn.ts';

describe('the administration of a ZITADEL', () => {
  it('recognises one by its OpenID configuration, and no other server', async () => {
    const zitadel = await startZitadel();
    expect(await recogniseZitadel(connectTo(zitadel, 'wrong'))).toBeDefined();
    const other = createServer((_request, response) => response.end('{"issuer":"https://other.example"}'));
    onTestFinished(() => void other.close());
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    expect(await recogniseZitadel(connectTo({ url: `http://127.0.0.1:${port}` }))).toBeUndefined();
  });

  it('deletes the service user of the migration, whose token ends with it', async () => {
    const zitadel = await startZitadel();
    zitadel.tokens.set('guest', 'guest-token');
    zitadel.contents.users.set('guest', DEFAULT_ORGANISATION);
    const connection = connectTo(zitadel);
    for (const userId of ['guest', 'guest', 'owner']) await deleteServiceUser(connection, userId);
    expect([...zitadel.contents.users.keys()]).toEqual([]);
    await expect(readCaller(connection)).rejects.toThrow('rejects the token');
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

const USER = '400642900465028134';
/** The calls over gRPC-Web, by their paths: they get the answers that were recorded over REST. */
const overRest: Readonly<Record<string, readonly [method: string, path: string, output: DescMessage]>> = {
  '/zitadel.management.v1.ManagementService/ListPersonalAccessTokens': [
    'POST',
    `/management/v1/users/${USER}/pats/_search`,
    ListPersonalAccessTokensResponseSchema,
  ],
  '/zitadel.user.v2.UserService/DeleteUser': ['DELETE', `/v2/users/${USER}`, DeleteUserResponseSchema],
};

/** Starts a server that gives the recorded answer to each recorded call, the first one of several. */
async function startRecorded(): Promise<string> {
  const recorded = recordings.parse(JSON.parse(zitadelText('administration')));
  const server = createServer((request, response) => {
    const { method: verb = '', url = '' } = request;
    const [method, path, output] = overRest[url] ?? [verb, url];
    const found = recorded.find((one) => one.request.method === method && one.request.path === path);
    const reply = replies.json(found?.status ?? 599, found?.body ?? {});
    const { status, type, content } = output === undefined ? reply : grpcWeb(output, reply);
    response.writeHead(status, { 'content-type': type }).end(content);
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

describe('the recorded answers of a ZITADEL', () => {
  it('are understood', async () => {
    const connection = connectTo({ url: await startRecorded() });
    expect(await recogniseZitadel(connection)).toBeDefined();
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
      userName: 'lab-owner',
      orgId: '400632721778478118',
      isServiceUser: true,
      createdAt: '2026-11-21T20:08:32.465457Z',
      roles: ['IAM_OWNER'],
    });
    expect([...(await listOrganisations(connection))]).toEqual([
      ['400632721778478118', 'ORG_STATE_ACTIVE'],
      ['791796202000000003', 'ORG_STATE_ACTIVE'],
    ]);
    expect(await countTokens(connection, USER)).toBe(1);
    await deleteServiceUser(connection, USER);
  });
});
