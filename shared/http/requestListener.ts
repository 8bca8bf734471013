import { getRequestListener, type Http2Bindings, type HttpBindings, RequestError } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { httpMalformed } from '../errors/httpErrors.ts';
import type { ConcurrencyLimit } from './concurrency.ts';
import { errorResponse, newRequestId } from './errorResponse.ts';
import type { Incoming, Outgoing } from './exchange.ts';
import { isBodyExpected } from './readBody.ts';
import { writeResponse } from './writeResponse.ts';

/** A fetch handler, such as a Hono application. */
export interface Application {
  fetch(request: Request, env: HttpBindings | Http2Bindings): Response | Promise<Response>;
}

/** How long the server waits for clients. */
export interface WaitTimes {
  /** For the rest of a body that the application expects, after the response. */
  readonly lingerMs: number;
  /** For a client that takes nothing of a response. */
  readonly stallMs: number;
}

type RequestListener = (incoming: Incoming, outgoing: Outgoing) => Promise<void>;

/**
 * Creates a Node request listener that passes requests to an application, with unread bodies, and writes the responses.
 * @param places has a place for a request until its whole response only waits for its client
 */
export function requestListener(app: Application, times: WaitTimes, places: ConcurrencyLimit): RequestListener {
  return getRequestListener(
    async (request, env) => {
      using place = places.enter();
      const response = await app.fetch(request, env);
      const lingerMs = isBodyExpected(request) ? times.lingerMs : 0;
      const onComplete = () => place[Symbol.dispose]();
      await writeResponse(response, env.outgoing, { lingerMs, stallMs: times.stallMs, onComplete });
      return RESPONSE_ALREADY_SENT;
    },
    {
      overrideGlobalObjects: false,
      autoCleanupIncoming: false,
      errorHandler: (error) => errorResponse(error instanceof RequestError ? httpMalformed() : error, newRequestId()),
    },
  );
}
