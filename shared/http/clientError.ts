import type { Server } from 'node:http';
import { httpHeadersTimeout, httpHeadersTooLarge, httpMalformed } from '../errors/httpErrors.ts';
import type { IdentityError } from '../errors/identityError.ts';
import type { RunningRequests } from './drain.ts';
import { closeAfter, isHttp1, type Outgoing } from './exchange.ts';
import { answerRaw } from './rawAnswer.ts';

/** Answers what Node's HTTP/1 parser gives up on. */
export function answerParserErrors(server: Server, running: RunningRequests): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const current = [...running.answers].filter(isHttp1).find((outgoing) => outgoing.socket === socket);
    if (current?.req.complete) endAfter(current);
    else if (current?.headersSent || error.code === 'ECONNRESET') socket.destroy();
    else void answerRaw(socket, parserFault(error.code));
  });
}

// What was malformed came after a whole request: that one is still answered, and nothing is read after it.
function endAfter(outgoing: Outgoing): void {
  const { socket } = outgoing;
  closeAfter(outgoing);
  outgoing.once('close', () => socket?.destroySoon());
}

/** The error of a request that the parser gave up on, by the parser's code. */
function parserFault(code: string | undefined): IdentityError {
  if (code === 'HPE_HEADER_OVERFLOW') return httpHeadersTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return httpHeadersTimeout();
  return httpMalformed();
}
