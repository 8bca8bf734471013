import { once } from 'node:events';
import { createServer, type Http2Session, type IncomingHttpHeaders } from 'node:http2';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectFirestore, FLOW_CONTROL_WINDOW_BYTES } from '../../../shared/store/firestore/firestoreConnection.ts';
import { batchGetDocuments, runQuery } from '../../../shared/store/firestore/methods.ts';

/** Starts a server that never responds, and returns its address, its next session and the headers of the next request. */
async function startServer() {
  const server = createServer();
  const session = Promise.withResolvers<Http2Session>();
  const headers = Promise.withResolvers<IncomingHttpHeaders>();
  server.on('session', session.resolve);
  server.on('stream', (_stream, received) => headers.resolve(received));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  onTestFinished(async () => {
    (await session.promise).destroy();
    server.close();
    await once(server, 'close');
  });
  return { address: `127.0.0.1:${address.port}`, session: session.promise, headers: headers.promise };
}

describe('a connection to Firestore', () => {
  it('lets the server send a megabyte on each stream, and in all, before it waits for a round trip', async () => {
    const server = await startServer();
    const connection = connectFirestore({ projectId: 'p', databaseId: '(default)' }, server.address);
    const { client, database, parent } = connection;
    const call = await batchGetDocuments(connection, { database, documents: [`${parent}/users/a`], mask: [] });
    call.on('error', () => {});
    const session = await server.session;
    await expect.poll(() => session.remoteSettings.initialWindowSize).toBe(FLOW_CONTROL_WINDOW_BYTES);
    await expect.poll(() => session.state.remoteWindowSize).toBeGreaterThanOrEqual(FLOW_CONTROL_WINDOW_BYTES);
    call.cancel();
    await client.close();
  });

  it('routes each request by its database, and ends after a timeout', async () => {
    const server = await startServer();
    const connection = connectFirestore({ projectId: 'p', databaseId: '(default)' }, server.address);
    const { client, parent } = connection;
    const call = await runQuery(connection, { parent, query: { from: 'users', where: [], orderBy: [] } });
    call.on('error', () => {});
    expect(await server.headers).toMatchObject({
      ':path': '/google.firestore.v1.Firestore/RunQuery',
      authorization: 'Bearer owner',
      'grpc-timeout': expect.stringMatching(/^(300000|29\d{4})m$/),
      'x-goog-request-params': 'parent=projects%2Fp%2Fdatabases%2F(default)%2Fdocuments',
    });
    call.cancel();
    await client.close();
  });
});
