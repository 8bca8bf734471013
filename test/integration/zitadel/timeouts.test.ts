import type { ServerResponse } from 'node:http';
import { AuthService } from '@zitadel/proto/zitadel/auth_pb.js';
import { describe, expect, it } from 'vitest';
import { callMethod, hasContext } from '../../../cli/zitadel/rpc.ts';
import { recogniseZitadel } from '../../../cli/zitadel/zitadelInstance.ts';
import { startServer } from '../../support/places/fakeInstance.ts';
import { connectTo } from '../../support/zitadel/connect.ts';
import { grpcWebMessage } from '../../support/zitadel/replies.ts';

/** Connects to a server that accepts connections, and answers them as a test needs it. */
async function startResponding(respond: (attempt: number, response: ServerResponse) => void) {
  const attempts = { count: 0 };
  const url = await startServer((request, response) => {
    request.resume();
    respond(++attempts.count, response);
  });
  return { connection: { ...connectTo({ url }), responseLimitMs: 1_000 }, url, attempts };
}

const { getMyUser } = AuthService.method;
const advice = 'check that the instance and its database run and are not overloaded';

describe('a call of a ZITADEL that does not respond in time', () => {
  it('is sent again, as after a lost connection', async () => {
    const { connection, attempts } = await startResponding((attempt, response) => {
      if (attempt === 1) return;
      const { type, content } = grpcWebMessage(new Uint8Array());
      response.setHeader('content-type', type).end(content);
    });
    expect((await callMethod(connection, getMyUser, {})).message.user).toBeUndefined();
    expect(attempts.count).toBe(2);
  });

  it('ends after two attempts with the address, the call and advice', async () => {
    const { connection, url, attempts } = await startResponding(() => undefined);
    const error = (name: string) => `${url} did not respond to ${name} within 1 s: ${advice}`;
    await expect(recogniseZitadel(connection)).rejects.toThrow(error('GET /.well-known/openid-configuration'));
    expect(attempts.count).toBe(2);
    const method = 'POST /zitadel.management.v1.ManagementService/GetMyOrg';
    await expect(hasContext(connection, 'acme')).rejects.toThrow(error(method));
    expect(attempts.count).toBe(4);
  });

  it('ends after one attempt with a TimeoutError if the call has its own time limit', async () => {
    const { connection, attempts } = await startResponding(() => undefined);
    const calling = callMethod(connection, getMyUser, {}, { timeoutMs: 200 });
    await expect(calling).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(attempts.count).toBeLessThan(2);
  });
});
