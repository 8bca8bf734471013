import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { z } from 'zod';
import { identityJson } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { importInto, send } from '../../support/http/wire.ts';
import type { AbusedServer } from '../support/abusedServer.ts';
import type { CostRow } from './costRow.ts';

const caller = 'person';
const places = 'one of `MAX_CONNECTIONS` and of `MAX_PER_CLIENT`, until the response is read';
const made = z.object({ token: z.string() });
const RPC = '/zitadel.user.v2.UserService/RemoveOTPEmail';
/** The largest message of an RPC. */
const MESSAGE_BYTES = 64 * 1_024;

/** Imports people with the OTP e-mail factor, and returns a token of each. */
async function tokensOfPeople(server: AbusedServer, count: number): Promise<readonly string[]> {
  const userIds = Array.from({ length: count }, (_, index) => `person${index}`);
  const humanUsers = userIds.map((userId) => ({ ...person(userId), otpEmail: true }));
  await importInto(server, { data_orgs: { orgs: [organisation('people', { humanUsers })] } });
  const tokens: string[] = [];
  for (const userId of userIds)
    tokens.push(made.parse(await identityJson(['pat', 'create', '--user', userId, ...server.database])).token);
  return tokens;
}

/** Requests of people, who may remove their own factor and list their own methods. */
export const personRows: readonly CostRow[] = [
  {
    ...{ caller, places },
    times: 100,
    most: { removals: 15, memoryBytes: 150_000_000, diskBytes: 200_000 },
    request: "the removal of the person's own factor, and the list of the methods that are left",
    prepare: async (server) => {
      const tokens = await tokensOfPeople(server, 100);
      return async (index) => {
        const token = tokens[index] ?? '';
        const user = `/v2/users/person${index}`;
        expect((await send(server, { method: 'DELETE', path: `${user}/otp_email`, token })).status).toBe(200);
        const methods = `${user}/authentication_methods`;
        expect((await send(server, { method: 'GET', path: methods, token })).status).toBe(200);
      };
    },
  },
  {
    ...{ caller, places },
    times: 1_000,
    most: { removals: 25, memoryBytes: 250_000_000, diskBytes: 0 },
    request: 'an RPC with the largest message, compressed',
    prepare: async (server) => {
      const [token = ''] = await tokensOfPeople(server, 1);
      const id = 'x'.repeat(MESSAGE_BYTES - Buffer.byteLength('{"userId":""}'));
      const body = Buffer.from(gzipSync(JSON.stringify({ userId: id })));
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      return async () =>
        expect((await send(server, { method: 'POST', path: RPC, token, body, headers })).status).not.toBe(429);
    },
  },
];
