import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import type { HttpEnv } from '../../../shared/http/exchange.ts';
import { toPublicError } from '../../../shared/http/responses.ts';
import { type ImportEvent, type ImportResponse, NDJSON } from '../contract.ts';
import { fittedResponse } from './fittedResponse.ts';
import type { LastLine, ProgressEvents } from './progressEvents.ts';

/** Cloud Run cuts streamed responses above 10 MiB, although it accepts larger ones with a content length. */
const MAX_STREAMED_BYTES = 10_000_000;
const JSON_TYPE = 'application/json';

/** Whether the client names events as acceptable, and JSON not as better. A wildcard means JSON. */
export function acceptsEvents(context: Context<HttpEnv>): boolean {
  const match = (given: readonly { readonly type: string; readonly q: number }[]) => {
    const weight = (type: string) => given.find((one) => one.type.toLowerCase() === type)?.q ?? 0;
    return weight(NDJSON) > 0 && weight(NDJSON) >= weight(JSON_TYPE) ? NDJSON : JSON_TYPE;
  };
  return accepts(context, { header: 'Accept', supports: [NDJSON, JSON_TYPE], default: JSON_TYPE, match }) === NDJSON;
}

/** The surroundings of an import that reports events. */
interface EventCall {
  readonly events: ProgressEvents;
  readonly requestId: string;
  /** The id of the trace that the request belongs to. */
  readonly trace: string | undefined;
  /** The limit of a response. */
  readonly maxBytes: number;
  /** Ends the import, because its client does not read on. */
  readonly leave: () => void;
}

/**
 * Responds to an import with its events, as they come. What the import rejects before its first event has a status and a
 * body of its own.
 * @throws the error of an import that ends before its first event
 */
export async function eventResponse(
  running: Promise<ImportResponse>,
  { events, requestId, trace, maxBytes, leave }: EventCall,
): Promise<Response> {
  const last = running.then(resultLine, (error: unknown) => errorLine(error, requestId, trace));
  // An import without events has failed.
  await Promise.race([events.begun, running]);
  const lines = events.lines(last, Number.isFinite(maxBytes) ? Math.min(maxBytes, MAX_STREAMED_BYTES) : maxBytes);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await lines.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': NDJSON } });
}

function resultLine(response: ImportResponse): LastLine {
  const start = '{"event":"result","response":';
  return (maxBytes) => `${start}${fittedResponse(response, maxBytes - start.length - 1)}}`;
}

function errorLine(error: unknown, requestId: string, trace: string | undefined): LastLine {
  const event: ImportEvent = { event: 'error', error: toPublicError(error, requestId, trace).toJson() };
  return () => JSON.stringify(event);
}
