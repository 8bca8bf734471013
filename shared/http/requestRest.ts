import type { IncomingMessage, ServerResponse } from 'node:http';

const unasked = new WeakSet<IncomingMessage>();

/**
 * Holds a client that sent `Expect: 100-continue` until its body is wanted, so that an answer that needs no body
 * (a wrong token, a declared size over the limit) spares it the upload.
 */
export function continueOnDemand(incoming: IncomingMessage, outgoing: ServerResponse): void {
  unasked.add(incoming);
  incoming.once('resume', () => {
    if (outgoing.headersSent) return;
    unasked.delete(incoming);
    outgoing.writeContinue();
  });
}

/**
 * Reads and drops what is still to come of a request's body. A socket closed with unread bytes in it is reset,
 * and the reset can overtake the answer: so the answer is only ended after this.
 *
 * @param limitMs after that the rest is left where it is
 * @returns undefined where nothing is to come
 */
export function discardRest(incoming: IncomingMessage, limitMs: number): Promise<void> | undefined {
  if (incoming.complete || incoming.destroyed || unasked.has(incoming)) return undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  for (const event of ['end', 'close', 'error']) incoming.once(event, () => resolve());
  // A reader that has stopped would pause the stream again with its own listener.
  incoming.removeAllListeners('data');
  incoming.resume();
  return promise.finally(() => clearTimeout(timer));
}
