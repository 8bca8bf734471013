import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

/** A scripted response to an exchange or to a call of Cloud Storage. */
export type ScriptedResponse = readonly [status: number, body: object] | 'nothing';

/** Returns Cloud Storage's body of an error. */
export function googleError(code: number, message: string): ScriptedResponse {
  return [code, { error: { code, message, errors: [{ message, domain: 'global', reason: 'error' }] } }];
}

/** A server with scripted responses. It repeats the last response. */
export interface TokenEndpoint {
  readonly url: string;
  /** The forms that were sent to `/token`. */
  readonly exchanges: URLSearchParams[];
  /** The Authorization headers of all other requests. */
  readonly authorizations: (string | undefined)[];
  close(): void;
}

/** Starts a server that responds to token exchanges from one script, and to all other requests from another. */
export async function startTokenEndpoint(
  exchangeScript: readonly ScriptedResponse[],
  storageScript: readonly ScriptedResponse[] = [googleError(404, 'No such object: exports/x')],
): Promise<TokenEndpoint> {
  const exchanges: URLSearchParams[] = [];
  const authorizations: (string | undefined)[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const isExchange = request.url === '/token';
    const [script, count] = isExchange
      ? [exchangeScript, exchanges.push(new URLSearchParams(body))]
      : [storageScript, authorizations.push(request.headers.authorization)];
    const next = script[Math.min(count, script.length) - 1] ?? 'nothing';
    if (next === 'nothing') return;
    response.writeHead(next[0], { 'content-type': 'application/json' }).end(JSON.stringify(next[1]));
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${address.port}`, exchanges, authorizations, close };
}
