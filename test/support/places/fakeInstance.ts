import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { StatedLimits } from '../../../shared/limits.ts';

/** A server that clients recognise as an instance. A test chooses its responses. */
export interface FakeInstance {
  readonly url: string;
  /** Resolves when a client has closed the connection of a call. */
  readonly clientLeft: Promise<void>;
}

/** An instance's export without organisations. */
export const emptyExport = JSON.stringify({
  orgs: [],
  manifest: {
    version: 1,
    instance: 'Fake',
    readTime: '2026-01-02T03:04:05.000Z',
    counts: {},
    digest: `sha256:${'0'.repeat(64)}`,
  },
});

/**
 * Starts a server that clients recognise as an instance. It stops when the test ends.
 * @param limits the limits that it states
 */
export async function startFakeInstance(
  respond: (response: ServerResponse, request: IncomingMessage) => void,
  limits: StatedLimits = {},
): Promise<FakeInstance> {
  const document = JSON.stringify({
    info: { title: 'Identity', version: '0.0.0' },
    paths: { '/admin/v1/export': {}, '/admin/v1/import': {} },
    'x-limits': limits,
  });
  const left = Promise.withResolvers<void>();
  const url = await startServer((request, response) => {
    if (request.url === '/openapi.json') {
      response.end(document);
      return;
    }
    response.on('close', () => left.resolve());
    respond(response, request);
    // If a test reads the body, it has already started to.
    request.resume();
  });
  return { url, clientLeft: left.promise };
}

/** Starts a server, and returns its address. The server stops when the test ends. */
export async function startServer(respond: RequestListener): Promise<string> {
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address: AddressInfo | string | null = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}
