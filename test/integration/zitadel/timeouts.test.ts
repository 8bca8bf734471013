import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasContext } from '../../../cli/zitadel/rpc.ts';
import { send } from '../../../cli/zitadel/zitadelConnection.ts';
import { connectTo } from '../../support/zitadel/connect.ts';

/** Starts a server that accepts connections, and answers them as a test needs it. */
async function startServer(respond: (attempt: number, response: ServerResponse) => void) {
  const attempts = { count: 0 };
  const server = createServer((request, response) => {
    request.resume();
    respond(++attempts.count, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system gave no port');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${address.port}`;
  return { connection: { ...connectTo({ url }), responseLimitMs: 1_000 }, url, attempts };
}

const call = { method: 'GET', path: '/auth/v1/users/me' } as const;
const advice = 'check that it and its database run, and are not overloaded';

describe('a call of a ZITADEL that does not respond in time', () => {
  it('is sent again, as after a lost connection', async () => {
    const { connection } = await startServer((attempt, response) => {
      if (attempt > 1) response.end('{}');
    });
    expect(await send(connection, call)).toMatchObject({ status: 200, text: '{}', attempts: 2 });
  });

  it('ends after two attempts with the address, the call and advice', async () => {
    const { connection, url, attempts } = await startServer(() => undefined);
    const error = (name: string) => `${url} did not respond to ${name} within 1 s: ${advice}`;
    await expect(send(connection, call)).rejects.toThrow(error('GET /auth/v1/users/me'));
    expect(attempts.count).toBe(2);
    const method = 'POST /zitadel.management.v1.ManagementService/GetMyOrg';
    await expect(hasContext(connection, 'acme')).rejects.toThrow(error(method));
    expect(attempts.count).toBe(4);
  });

  it('ends after one attempt with a TimeoutError if the call has its own time limit', async () => {
    const { connection, attempts } = await startServer(() => undefined);
    await expect(send(connection, { ...call, timeoutMs: 200 })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(attempts.count).toBeLessThan(2);
  });
});
