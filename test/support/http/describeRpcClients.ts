import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf, sampleOrganisation } from '../fixtures/sampleOrganisation.ts';
import type { Instance } from '../instances/deployments.ts';
import { newToken, noDatabase } from '../instances/tokens.ts';
import { type RpcClient, type RpcRefusal, rpcClients } from './rpcClients.ts';
import { importInto } from './wire.ts';

/** What the clients call: an instance, at its own base URL or at that of one of its functions. */
export interface Called {
  readonly url: string;
  readonly instance: Instance;
}

interface Refused extends RpcRefusal {
  readonly outcome: string;
  readonly caller: 'owner' | 'person' | 'nobody';
  readonly user: 'ada' | 'unknown' | 'tooLong';
}

const refusals: readonly Refused[] = [
  {
    outcome: 'a user that is not found',
    caller: 'owner',
    user: 'unknown',
    code: 5,
    message: 'Errors.NotFound (COMMAND-4g3xq)',
    id: 'COMMAND-4g3xq',
  },
  {
    outcome: 'a permission that is missing',
    caller: 'person',
    user: 'ada',
    code: 7,
    message: 'No matching permissions found (AUTH-AWfge)',
    id: 'AUTH-AWfge',
  },
  {
    outcome: 'a bad token',
    caller: 'nobody',
    user: 'ada',
    code: 16,
    message: 'Errors.Token.Invalid (AUTH-7fs1e)',
    id: 'AUTH-7fs1e',
  },
  {
    outcome: 'a user id that is too long',
    caller: 'owner',
    user: 'tooLong',
    code: 3,
    message: 'invalid RemoveOTPEmailRequest.UserId: value length must be between 1 and 200 runes, inclusive',
    id: undefined,
  },
];

/** Describes what every client gets: the removal, and each refusal with the code that its protocol asks for. */
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
    it('removes the factor', async () => {
      const { url, instance } = get();
      const own = sampleOrganisation();
      await importInto(instance, { data_orgs: { orgs: [own] } });
      const removal = { url, token: instance.token, userId: peopleOf(own).ada };
      expect(await client.remove(removal)).toMatchObject({ details: { resourceOwner: own.orgId } });
      expect(await refusal(client, client.remove(removal))).toMatchObject({ code: 5 });
    });

    it.for(refusals)('is told of $outcome', async ({ caller, user, code, message, id }, { skip }) => {
      const { url, instance } = get();
      const tokens = { owner: instance.token, person: tokenOfBen, nobody: 'notreal' };
      const token = tokens[caller] ?? skip(noDatabase);
      const userId = { ada, unknown: '1', tooLong: 'x'.repeat(201) }[user];
      const refused = await refusal(client, client.remove({ url, token, userId }));
      expect(refused).toEqual({ code, message, id: refused.id === null ? null : id });
    });
  });
}

/** Fails unless the removal is refused. */
async function refusal(client: RpcClient, removal: Promise<unknown>): Promise<RpcRefusal> {
  const thrown = await removal.then(
    (answer) => expect.fail(`it was not refused: ${JSON.stringify(answer)}`),
    (reason: unknown) => reason,
  );
  return client.refusal(thrown);
}
