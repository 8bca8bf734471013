import { getRequestListener, type Http2Bindings, type HttpBindings, RequestError } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { httpMalformed } from '../errors/httpErrors.ts';
import { errorResponse } from './errorResponse.ts';
import type { Incoming, Outgoing } from './exchange.ts';
import { newRequestId } from './requestId.ts';
import { writeResponse } from './writeResponse.ts';

/** What answers requests: a Hono application of any kind. */
export interface Application {
  fetch(request: Request, env: HttpBindings | Http2Bindings): Response | Promise<Response>;
}

type RequestListener = (incoming: Incoming, outgoing: Outgoing) => Promise<void>;

/**
 * Hands each request of a Node server to an application, its body as an unread stream, and writes its answer.
 *
 * @param lingerMs how long what is left of a request's body is read and dropped once its answer is written
 */
export function requestListener(app: Application, lingerMs: number): RequestListener {
  return getRequestListener(
    async (request, env) => {
      const response = await app.fetch(request, env);
      await writeResponse(response, env.outgoing, lingerMs);
      return RESPONSE_ALREADY_SENT;
    },
    {
      overrideGlobalObjects: false,
      autoCleanupIncoming: false,
      errorHandler: (error) => errorResponse(error instanceof RequestError ? httpMalformed() : error, newRequestId()),
    },
  );
}
