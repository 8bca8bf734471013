import { describe, expect, it, onTestFinished } from 'vitest';
import { routes as removalRoutes } from '../../../functions/removeOtpEmail/app.ts';
import { changeRole } from '../../../shared/accounts/memberships.ts';
import { createPersonalAccessToken } from '../../../shared/accounts/personalAccessTokens.ts';
import { createApp } from '../../../shared/http/app.ts';
import { serve } from '../../../shared/http/server.ts';
import type { Store } from '../../../shared/store/store.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { readUser } from '../../support/stores/documents.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const REASON =
  "the organisation of the token's user is inactive or removed: use a token of an active organisation's user";
const ada = { ...person('ada'), otpEmail: true };

/** Creates a token without the command, which might reject it, of a user who has been in another organisation then. */
async function tokenFor(store: Store, userId: string): Promise<string> {
  const { created, write } = createPersonalAccessToken({ userId, orgId: 'former' }, new Date(), 60_000);
  await store.commit([write]);
  return created.token;
}

const robot = (userId: string) => ({ userId, user: { userName: userId, name: userId } });

async function serveRemoval(store: Store): Promise<string> {
  const routes = removalRoutes({ store, audit: memoryTrail().audit, now: () => new Date() });
  const server = await serve({ app: createApp({ routes }), host: '127.0.0.1', port: 0 });
  onTestFinished(async () => void (await server.close()));
  return server.url;
}

describe('a user of an organisation', () => {
  it.each(['ORG_STATE_INACTIVE', 'ORG_STATE_REMOVED'])('may call nothing while its state is %s', async (orgState) => {
    const store = await openTestStore(sqlite);
    const instance = await testInstance(store);
    const orgs = [
      organisation('O', { orgState, humanUsers: [ada], machineUsers: [robot('robot')] }),
      organisation('active', { machineUsers: [robot('other')] }),
    ];
    await instance.import({ data_orgs: { orgs } });
    for (const userId of ['robot', 'other'])
      await changeRole(store, { userId, orgId: undefined }, 'IAM_OWNER', 'add', new Date());
    const headersOf = async (userId: string) => ({ authorization: `Bearer ${await tokenFor(store, userId)}` });
    const headers = await headersOf('robot');
    const url = await serveRemoval(store);
    const send = async (operation: 'import' | 'export', body: object) => {
      const path = `/admin/v1/${operation}`;
      const response = await instance.app.request(path, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, body: await response.text() };
    };
    const refused = {
      status: 403,
      body: JSON.stringify({ code: 7, message: REASON, details: [errorInfo('ORGANISATION_INACTIVE')] }),
    };

    expect(await send('export', { response_output: true })).toEqual(refused);
    expect(await send('import', { data_orgs: { orgs: [organisation('new')] } })).toEqual(refused);
    const removal = await fetch(`${url}/v2/users/ada/otp_email`, { method: 'DELETE', headers });
    expect({ status: removal.status, body: await removal.text() }).toEqual(refused);
    const call = await fetch(`${url}/zitadel.user.v2.UserService/RemoveOTPEmail`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ userId: 'ada' }),
    });
    expect(await call.json()).toMatchObject({ code: 'permission_denied', message: REASON });
    expect(await readUser(store, 'ada')).toMatchObject({ otpEmail: true });

    const removed = await fetch(`${url}/v2/users/ada/otp_email`, {
      method: 'DELETE',
      headers: await headersOf('other'),
    });
    expect(removed.status).toBe(200);
  });
});
