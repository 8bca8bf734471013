import type { Context } from 'hono';
import type { Code } from '../errors/code.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import type { Incoming, Outgoing } from './exchange.ts';

/** What Hono's Context carries here: the socket's objects where there is a socket, and what the shell knows of the request. */
export interface HttpEnv {
  Bindings: { incoming?: Incoming; outgoing?: Outgoing };
  Variables: { requestId: string; route?: string; rpcCode?: Code };
}

/** What the answer goes out by; undefined where there is no socket. Hono passes on what `fetch` was given, which then is nothing. */
export function outgoingOf(context: { env?: HttpEnv['Bindings'] }): Outgoing | undefined {
  return context.env?.outgoing;
}

/** One route of a function, as data, so that the set of routes can be listed. */
export interface Route extends Endpoint {
  readonly handler: (context: Context<HttpEnv>) => Response | Promise<Response>;
}

/**
 * Adds `GET /openapi.json`, which describes the routes to anyone (no token).
 * @param described loads what is described instead, where other functions serve the same base URL
 */
export function withOpenApi(
  routes: readonly Route[],
  described: () => Promise<readonly Endpoint[]> = async () => routes,
): readonly Route[] {
  let text: Promise<string> | undefined;
  return [
    ...routes,
    {
      method: 'GET',
      path: '/openapi.json',
      handler: async () => {
        text ??= describe(described);
        return new Response(await text, { headers: { 'content-type': 'application/json' } });
      },
    },
  ];
}

// Loaded lazily: most processes never describe themselves.
async function describe(endpoints: () => Promise<readonly Endpoint[]>): Promise<string> {
  const { openApiDocument } = await import('../openapi/openApiDocument.ts');
  return JSON.stringify(openApiDocument(await endpoints()));
}
