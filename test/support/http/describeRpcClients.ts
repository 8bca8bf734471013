import { AuthenticationMethodType } from '@zitadel/proto/zitadel/user/v2/user_service_pb.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { peopleOf, sampleOrganisation } from '../fixtures/sampleOrganisation.ts';
import type { Instance } from '../instances/deployments.ts';
import { newToken, noDatabase } from '../instances/tokens.ts';
import { type RpcClient, type RpcMethod, type RpcRefusal, rpcClients } from './rpcClients.ts';
import { importInto } from './wire.ts';

/** The instance that the clients call, at its own base URL or at that of one of its functions. */
export interface Called {
  readonly url: string;
  readonly instance: Instance;
}

/** A list in the form of each client. Some clients return bigints, others longs. */
const listed = z.looseObject({
  details: z.looseObject({ totalResult: z.coerce.number() }),
  authMethodTypes: z.array(z.enum(AuthenticationMethodType)),
});

interface Refused extends RpcRefusal {
  readonly outcome: string;
  readonly method: RpcMethod;
  readonly caller: 'owner' | 'person' | 'nobody';
  readonly user: 'ada' | 'unknown' | 'tooLong';
}

const refusals: readonly Refused[] = [
  {
    outcome: 'a user that is not found',
    method: 'removeOTPEmail',
    caller: 'owner',
    user: 'unknown',
    code: 5,
    message: 'Errors.NotFound (COMMAND-4g3xq)',
    id: 'COMMAND-4g3xq',
  },
  {
    outcome: 'a permission that is missing',
    method: 'removeOTPEmail',
    caller: 'person',
    user: 'ada',
    code: 7,
    message: 'No matching permissions found (AUTH-AWfge)',
    id: 'AUTH-AWfge',
  },
  {
    outcome: 'a bad token',
    method: 'removeOTPEmail',
    caller: 'nobody',
    user: 'ada',
    code: 16,
    message: 'Errors.Token.Invalid (AUTH-7fs1e)',
    id: 'AUTH-7fs1e',
  },
  {
    outcome: 'a user id that is too long',
    method: 'removeOTPEmail',
    caller: 'owner',
    user: 'tooLong',
    code: 3,
    message: 'invalid RemoveOTPEmailRequest.UserId: value length must be between 1 and 200 runes, inclusive',
    id: undefined,
  },
  {
    outcome: 'a permission to read that is missing',
    method: 'listAuthenticationMethodTypes',
    caller: 'person',
    user: 'ada',
    code: 7,
    message: 'No matching permissions found (AUTH-AWfge)',
    id: 'AUTH-AWfge',
  },
  {
    outcome: 'a user id that is too long to be read',
    method: 'listAuthenticationMethodTypes',
    caller: 'owner',
    user: 'tooLong',
    code: 3,
    message:
      'invalid ListAuthenticationMethodTypesRequest.UserId: value length must be between 1 and 200 runes, inclusive',
    id: undefined,
  },
];

/** Describes the behaviour for every client: the removal, its effect, and each rejection with the code of its protocol. */
export function describeRpcClients(get: () => Called, clients: readonly RpcClient[] = rpcClients): void {
  const organisation = sampleOrganisation();
  const { ada, ben } = peopleOf(organisation);
  let tokenOfBen: string | undefined;
  beforeAll(async () => {
    const { instance } = get();
    await importInto(instance, { data_orgs: { orgs: [organisation] } });
    if (instance.database !== undefined) tokenOfBen = (await newToken(instance.database, ben)).token;
  });

  describe.each(clients)('$name', (client) => {
    it('removes the factor, and reads the removed state', async () => {
      const { url, instance } = get();
      const own = sampleOrganisation();
      await importInto(instance, { data_orgs: { orgs: [own] } });
      const target = { url, token: instance.token, userId: peopleOf(own).ada };
      const removal = { ...target, method: 'removeOTPEmail' } as const;
      const list = async () => listed.parse(await client.call({ ...target, method: 'listAuthenticationMethodTypes' }));
      const { TOTP, OTP_EMAIL, PASSWORD } = AuthenticationMethodType;
      expect(await list()).toMatchObject({ details: { totalResult: 3 }, authMethodTypes: [TOTP, OTP_EMAIL, PASSWORD] });
      expect(await client.call(removal)).toMatchObject({ details: { resourceOwner: own.orgId } });
      expect(await refusal(client, client.call(removal))).toMatchObject({ code: 5 });
      expect(await list()).toMatchObject({ details: { totalResult: 2 }, authMethodTypes: [TOTP, PASSWORD] });
    });

    it.for(refusals)('gets the error for $outcome', async ({ method, caller, user, code, message, id }, { skip }) => {
      const { url, instance } = get();
      const tokens = { owner: instance.token, person: tokenOfBen, nobody: 'notreal' };
      const token = tokens[caller] ?? skip(noDatabase);
      const userId = { ada, unknown: '1', tooLong: 'x'.repeat(201) }[user];
      const refused = await refusal(client, client.call({ method, url, token, userId }));
      expect(refused).toEqual({ code, message, id: refused.id === null ? null : id });
    });
  });
}

/** Expects that the call is rejected, and returns the rejection. */
async function refusal(client: RpcClient, call: Promise<unknown>): Promise<RpcRefusal> {
  const thrown = await call.then(
    (answer) => expect.fail(`it was not refused: ${JSON.stringify(answer)}`),
    (reason: unknown) => reason,
  );
  return client.refusal(thrown);
}
