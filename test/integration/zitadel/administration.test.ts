import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { listOrganisations } from '../../../cli/zitadel/export/exportContent.ts';
import {
  deleteServiceUser,
  listTokens,
  readCaller,
  readInstance,
  recogniseZitadel,
  revokeToken,
} from '../../../cli/zitadel/instance.ts';
import { zitadelText } from '../../support/fixtures/organisations.ts';
import { DEFAULT_ORGANISATION } from '../../support/zitadel/behaviour.ts';
import { connectTo } from '../../support/zitadel/connect.ts';
import { startZitadel } from '../../support/zitadel/standIn.ts';

describe('the administration of a ZITADEL', () => {
  it('recognises one by its OpenID configuration, and no other server', async () => {
    const zitadel = await startZitadel();
    expect(await recogniseZitadel(connectTo(zitadel, 'wrong'))).toMatchObject({ issuer: 'http://localhost' });
    const other = createServer((_request, response) => response.end('{"issuer":"https://other.example"}'));
    onTestFinished(() => void other.close());
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    expect(await recogniseZitadel(connectTo({ url: `http://127.0.0.1:${port}` }))).toBeUndefined();
  });

  it("reads the instance, and does not take its build's time for a version", async () => {
    const zitadel = await startZitadel();
    expect(await readInstance(connectTo(zitadel))).toEqual({
      id: '400000000000000000',
      name: 'ZITADEL',
      version: undefined,
      defaultOrgId: DEFAULT_ORGANISATION,
      domains: ['localhost'],
    });
  });

  it('reads whose token it is, and the roles in the instance', async () => {
    const zitadel = await startZitadel();
    zitadel.tokens.set('guest', 'guest-token');
    zitadel.contents.users.set('guest', DEFAULT_ORGANISATION);
    expect(await readCaller(connectTo(zitadel))).toEqual({
      userId: 'owner',
      userName: 'owner',
      orgId: DEFAULT_ORGANISATION,
      isServiceUser: true,
      roles: ['IAM_OWNER'],
    });
    expect(await readCaller(connectTo(zitadel, 'guest-token'))).toMatchObject({ roles: [] });
  });

  it('lists and revokes tokens', async () => {
    const zitadel = await startZitadel();
    zitadel.tokens.set('guest', 'guest-token');
    zitadel.contents.users.set('guest', DEFAULT_ORGANISATION);
    const connection = connectTo(zitadel);
    const guest = { userId: 'guest', orgId: DEFAULT_ORGANISATION };
    expect(await listTokens(connection, guest)).toEqual([{ id: 'token-of-guest', expiresAt: '2027-01-01T00:00:00Z' }]);
    await revokeToken(connection, guest, 'token-of-guest');
    expect(await listTokens(connection, guest)).toEqual([]);
    await expect(readCaller(connectTo(zitadel, 'guest-token'))).rejects.toThrow('rejects the token');
  });

  it('deletes the service user of the migration, whose token ends with it', async () => {
    const zitadel = await startZitadel();
    zitadel.tokens.set('guest', 'guest-token');
    zitadel.contents.users.set('guest', DEFAULT_ORGANISATION);
    const connection = connectTo(zitadel);
    expect(await deleteServiceUser(connection, 'guest')).toBe(true);
    expect(await deleteServiceUser(connection, 'guest')).toBe(false);
    expect(await deleteServiceUser(connection, 'owner')).toBe(true);
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

/** Starts a server that gives the recorded answer to each recorded call, the first one of several. */
async function startRecorded(): Promise<string> {
  const recorded = recordings.parse(JSON.parse(zitadelText('administration')));
  const server = createServer((request, response) => {
    const found = recorded.find(({ request: { method, path } }) => method === request.method && path === request.url);
    response.writeHead(found?.status ?? 599).end(JSON.stringify(found?.body));
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

describe('the recorded answers of a ZITADEL', () => {
  it('are understood', async () => {
    const connection = connectTo({ url: await startRecorded() });
    expect(await recogniseZitadel(connection)).toMatchObject({ issuer: 'http://localhost:27083' });
    expect(await readInstance(connection)).toEqual({
      id: '400632721778412582',
      name: 'ZITADEL',
      version: undefined,
      defaultOrgId: '400632721778478118',
      domains: ['localhost', 'zitadel-lpqwrk.localhost'],
    });
    expect(await readCaller(connection)).toEqual({
      userId: '400632721779002406',
      userName: 'lab-owner',
      orgId: '400632721778478118',
      isServiceUser: true,
      roles: ['IAM_OWNER'],
    });
    expect(await listOrganisations(connection)).toMatchObject([
      { id: '400632721778478118', name: 'ZITADEL' },
      { id: '791796202000000003' },
    ]);
    const user = { userId: '400642900465028134', orgId: '400632721778478118' };
    expect(await listTokens(connection, user)).toEqual([
      { id: '400642900515359782', expiresAt: '2027-01-01T00:00:00Z' },
    ]);
    await revokeToken(connection, user, '400642900515359782');
    expect(await deleteServiceUser(connection, user.userId)).toBe(true);
  });
});
