// The response of an import: one JSON object, or events as they come.

import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import type { HttpEnv } from '../../../shared/http/nodeResponse.ts';
import { toPublicError } from '../../../shared/http/responses.ts';
import { type ImportEvent, type ImportProgress, type ImportResponse, NDJSON, type OpenedUpload } from '../contract.ts';
import { fittedResponse } from './fittedResponse.ts';

/** The result of a request: of its import, or an opened upload. */
export type ImportAnswer = ImportResponse | OpenedUpload;

/** The client of an import. */
export interface ImportClient {
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Takes the import's progress, if the client wants it. */
  readonly events?: ProgressEvents;
}

/** Builds the last event; its line has at most `maxBytes`. */
type LastLine = (maxBytes: number) => string;

/** Cloud Run cuts streamed responses above 10 MiB, although it accepts larger ones with a content length. */
const MAX_STREAMED_BYTES = 10_000_000;
const JSON_TYPE = 'application/json';

/**
 * Runs an import and responds with its outcome, or with its events as they come if the client accepts them. An error
 * before the first event has its own status and body.
 * @param maxBytes the limit of a response
 * @throws the error of an import that ends before its first event
 */
export async function respond(
  context: Context<HttpEnv>,
  maxBytes: number,
  run: (client: ImportClient) => Promise<ImportAnswer>,
): Promise<Response> {
  const { signal } = context.req.raw;
  if (!acceptsEvents(context)) return wholeResponse(await run({ signal }), maxBytes);
  // A client that does not read on ends the import.
  const left = new AbortController();
  const events = new ProgressEvents();
  const running = run({ signal: AbortSignal.any([signal, left.signal]), events });
  const last = running.then(resultLine, (error: unknown) => errorLine(error, context));
  // A call without events has failed, or opened an upload.
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

/** Whether the client names events as acceptable, and JSON not as better. A wildcard means JSON. */
function acceptsEvents(context: Context<HttpEnv>): boolean {
  const match = (given: readonly { readonly type: string; readonly q: number }[]) => {
    const weight = (type: string) => given.find((one) => one.type.toLowerCase() === type)?.q ?? 0;
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
  const event: ImportEvent = { event: 'error', error: publicError.toJson() };
  return () => JSON.stringify(event);
}

/** The least time between two events of one phase. */
const MIN_INTERVAL_MS = 1_000;
/**
 * The greatest part of an import's time between two events. It bounds their number in an hour to about a thousand, and so
 * their size.
 */
const MAX_PART = 1 / 300;

/** The events of one import, as the lines of its response. Nothing waits for their reader. */
class ProgressEvents {
  private readonly start = performance.now();
  private readonly beginning = Promise.withResolvers<void>();
  private readonly added: string[] = [];
  private read: (() => ImportProgress) | undefined;
  private wake = () => {};

  /** Resolves once there are events: the file is valid, and the call on record. */
  get begun(): Promise<void> {
    return this.beginning.promise;
  }

  /** @param read reads the progress at any later moment */
  begin(read: () => ImportProgress): void {
    this.read = read;
    this.beginning.resolve();
  }

  /** Adds an event about the progress so far. */
  addProgress(): void {
    this.added.push(this.progressLine());
    this.wake();
  }

  /** Yields the lines until the last one. Progress that its reader is too slow for is not repeated. */
  async *lines(last: Promise<LastLine>, maxBytes: number): AsyncGenerator<Uint8Array> {
    let room = maxBytes;
    const encode = (line: string) => {
      const bytes = Buffer.from(`${line}\n`);
      room -= bytes.length;
      return bytes;
    };
    const ending: { line?: LastLine } = {};
    void last.then((line) => {
      ending.line = line;
      this.wake();
    });
    for (;;) {
      for (const line of this.added.splice(0)) yield encode(line);
      if (ending.line !== undefined && this.added.length === 0) break;
      if (ending.line === undefined && !(await this.isWokenInTime())) yield encode(this.progressLine());
    }
    yield encode(ending.line(room - 1));
  }

  /** Waits for the next event, the end, or the time of the next event. */
  private async isWokenInTime(): Promise<boolean> {
    if (this.added.length > 0) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.wake = () => resolve(true);
    const elapsed = performance.now() - this.start;
    const timer = setTimeout(() => resolve(false), Math.max(MIN_INTERVAL_MS, elapsed * MAX_PART));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  private progressLine(): string {
    if (this.read === undefined) throw new Error('progress was asked for before the import began');
    const event: ImportEvent = { event: 'progress', ...this.read() };
    return JSON.stringify(event);
  }
}
