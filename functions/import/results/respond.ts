import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { retryInfo } from '../../../shared/errors/identityError.ts';
import type { HttpEnv } from '../../../shared/http/nodeResponse.ts';
import { toPublicError } from '../../../shared/http/responses.ts';
import { type ImportEvent, type ImportResponse, NDJSON, type OpenedUpload } from '../contract.ts';
import { fittedResponse } from './fittedResponse.ts';
import { type LastLine, ProgressEvents } from './progressEvents.ts';

export type ImportAnswer = ImportResponse | OpenedUpload;

export interface ImportClient {
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Sends the import's progress to the client; undefined unless the client accepts events. */
  readonly events?: ProgressEvents;
}

/**
 * The maximum size of a response with events, in bytes. Cloud Run truncates a response above 10 MiB unless its headers
 * contain the content length.
 */
const MAX_STREAMED_BYTES = 10_000_000;
const JSON_TYPE = 'application/json';

/**
 * Runs an import and responds with one JSON object, or with a stream of events if the client accepts events.
 * @param maxBytes the greatest size of a response
 * @throws the error of an import that fails before its first event
 */
export async function respond(
  context: Context<HttpEnv>,
  maxBytes: number,
  run: (client: ImportClient) => Promise<ImportAnswer>,
): Promise<Response> {
  const { signal } = context.req.raw;
  if (!acceptsEvents(context)) return wholeResponse(await run({ signal }), maxBytes);
  // Aborts when the client stops reading the response.
  const left = new AbortController();
  const events = new ProgressEvents();
  const running = run({ signal: AbortSignal.any([signal, left.signal]), events });
  const last = running.then(resultLine, (error: unknown) => errorLine(error, context));
  // `running` can end before the first event: the call has then failed, or has opened an upload.
  const answer = await Promise.race([events.begun, running]);
  if (answer !== undefined) return wholeResponse(answer, maxBytes);
  const lines = events.lines(last, Number.isFinite(maxBytes) ? Math.min(maxBytes, MAX_STREAMED_BYTES) : maxBytes);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await lines.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => left.abort(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': NDJSON } });
}

function wholeResponse(answer: ImportAnswer, maxBytes: number): Response {
  return new Response(answerJson(answer, maxBytes), { headers: { 'content-type': JSON_TYPE } });
}

function answerJson(answer: ImportAnswer, maxBytes: number): string {
  return 'upload' in answer ? JSON.stringify(answer) : fittedResponse(answer, maxBytes);
}

/**
 * True if the client accepts events: its Accept header lists the media type of events, and does not prefer JSON.
 * Wildcards in the header do not count.
 */
function acceptsEvents(context: Context<HttpEnv>): boolean {
  const match = (accepted: readonly { readonly type: string; readonly q: number }[]) => {
    const weight = (type: string) => accepted.find((mediaType) => mediaType.type.toLowerCase() === type)?.q ?? 0;
    return weight(NDJSON) > 0 && weight(NDJSON) >= weight(JSON_TYPE) ? NDJSON : JSON_TYPE;
  };
  return accepts(context, { header: 'Accept', supports: [NDJSON, JSON_TYPE], default: JSON_TYPE, match }) === NDJSON;
}

function resultLine(response: ImportAnswer): LastLine {
  const start = '{"event":"result","response":';
  return (maxBytes) => `${start}${answerJson(response, maxBytes - start.length - 1)}}`;
}

function errorLine(error: unknown, context: Context<HttpEnv>): LastLine {
  const { trace } = context.get('origin');
  const publicError = toPublicError(error, context.get('requestId'), trace, context.env?.local?.onUnexpected);
  const { retryAfterSeconds } = publicError;
  // A header `Retry-After` is no longer possible, because the headers were sent before the error. So the error contains
  // the delay.
  const stated = retryAfterSeconds === undefined ? publicError : publicError.withDetail(retryInfo(retryAfterSeconds));
  const event: ImportEvent = { event: 'error', error: stated.toJson() };
  return () => JSON.stringify(event);
}
