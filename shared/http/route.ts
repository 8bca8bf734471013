import type { Context } from 'hono';
import type { Code } from '../errors/identityError.ts';
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
