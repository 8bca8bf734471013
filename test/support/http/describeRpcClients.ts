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

/** The method, the caller, the user, and the refusal. */
type Refused = readonly [
  method: RpcMethod,
  caller: 'owner' | 'person' | 'nobody',
  user: 'ada' | 'unknown' | 'tooLong',
  code: number,
  message: string,
  id?: string,
];

const tooLong = (request: string) =>
  `invalid ${request}Request.UserId: value length must be between 1 and 200 runes, inclusive`;
const denied = [7, 'No matching permissions found (AUTH-AWfge)', 'AUTH-AWfge'] as const;
const list = 'listAuthenticationMethodTypes';

const refusals: Readonly<Record<string, Refused>> = {
  'a user that is not found': [
    'removeOTPEmail',
    'owner',
    'unknown',
    5,
    'Errors.NotFound (COMMAND-4g3xq)',
    'COMMAND-4g3xq',
  ],
  'a permission that is missing': ['removeOTPEmail', 'person', 'ada', ...denied],
  'a bad token': ['removeOTPEmail', 'nobody', 'ada', 16, 'Errors.Token.Invalid (AUTH-7fs1e)', 'AUTH-7fs1e'],
  'a user id that is too long': ['removeOTPEmail', 'owner', 'tooLong', 3, tooLong('RemoveOTPEmail')],
  'a permission to read that is missing': [list, 'person', 'ada', ...denied],
  'a user id that is too long to be read': [list, 'owner', 'tooLong', 3, tooLong('ListAuthenticationMethodTypes')],
};

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

    it.for(Object.entries(refusals))('gets the error for %s', async ([_outcome, refused], { skip }) => {
      const [method, caller, user, code, message, id] = refused;
      const { url, instance } = get();
      const tokens = { owner: instance.token, person: tokenOfBen, nobody: 'notreal' };
      const token = tokens[caller] ?? skip(noDatabase);
      const userId = { ada, unknown: '1', tooLong: 'x'.repeat(201) }[user];
      const found = await refusal(client, client.call({ method, url, token, userId }));
      expect(found).toEqual({ code, message, id: found.id === null ? null : id });
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
