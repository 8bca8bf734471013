import { once } from 'node:events';
import { createServer, type Http2Session } from 'node:http2';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectFirestore, FLOW_CONTROL_WINDOW_BYTES } from '../../../shared/store/firestore/firestoreConnection.ts';

/** Starts a server that never responds, and returns its address and its next session. */
async function startServer() {
  const server = createServer();
  const session = Promise.withResolvers<Http2Session>();
  server.on('session', session.resolve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  onTestFinished(async () => {
    (await session.promise).destroy();
    server.close();
    await once(server, 'close');
  });
  return { address: `127.0.0.1:${address.port}`, session: session.promise };
}

describe('a connection to Firestore', () => {
  it('lets the server send a megabyte on each stream, and in all, before it waits for a round trip', async () => {
    const server = await startServer();
    const { client, database, options } = connectFirestore({ projectId: 'p', databaseId: '(default)' }, server.address);
    const call = client.batchGetDocuments({ database, documents: [`${database}/documents/users/a`] }, options);
    call.on('error', () => {});
    const session = await server.session;
    await expect.poll(() => session.remoteSettings.initialWindowSize).toBe(FLOW_CONTROL_WINDOW_BYTES);
    await expect.poll(() => session.state.remoteWindowSize).toBeGreaterThanOrEqual(FLOW_CONTROL_WINDOW_BYTES);
    call.cancel();
    await client.close();
  });
});
