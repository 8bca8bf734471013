import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/** What Hono's Context carries here: the socket's objects where there is a socket, and what the shell knows of the request. */
export interface HttpEnv {
  Bindings: Partial<HttpBindings>;
  Variables: { requestId: string; route?: string };
}

/** The methods that routes offer. */
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One route of a function, as data, so that the set of routes can be listed. */
export interface Route {
  readonly method: Method;
  /** Hono's pattern, such as `/v2/users/:userId/otp_email`. A parameter reaches the handler decoded, `%2F` included. */
  readonly path: string;
  readonly handler: (context: Context<HttpEnv>) => Response | Promise<Response>;
}
