import { createServer, request as send } from 'node:http';
import { onTestFinished } from 'vitest';
import { GoogleError, sendError } from '../../../local/storage/googleError.ts';

/**
 * Serves a bucket as seen by an account whose only role is Storage Object Creator: reads return 403. Stops when the
 * test has finished.
 * @param url the bucket's stand-in
 * @returns its own address
 */
export async function startWriteOnlyBucket(url: string): Promise<string> {
  const server = createServer((request, response) => {
    if (request.method === 'GET') return sendError(response, new GoogleError(403, 'forbidden', 'Permission denied'));
    const { method, headers } = request;
    const forwarded = send(new URL(request.url ?? '', url), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return `http://127.0.0.1:${address.port}`;
}
