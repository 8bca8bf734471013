import { z } from 'zod';
import { zitadelImportTooSlow } from '../../../shared/errors/zitadelErrors.ts';
import { parseIfJson } from '../../../shared/json/parseIfJson.ts';
import { Backoff } from '../../../shared/retry.ts';
import { callError, messageIn, send, type ZitadelAnswer, type ZitadelConnection } from '../connection.ts';
import type { ImportError } from './expectedAnswers.ts';
import { importBody, type OutgoingRecord, type RequestLimits, requestLimits } from './importRequest.ts';

/** A request that a ZITADEL answered. */
export interface AnsweredRequest {
  readonly records: readonly OutgoingRecord[];
  readonly errors: readonly ImportError[];
  /** Whether a part of it had been sent before without an answer. */
  readonly isRepeat: boolean;
  readonly milliseconds: number;
}

const report = z.looseObject({
  errors: z
    .array(z.looseObject({ type: z.string(), id: z.string().optional(), message: z.string().default('') }))
    .default([]),
});

/** How an answer other than a report is to be taken. */
type Refusal = 'tooLarge' | 'tooSlow' | 'invalid' | 'other';

/** ZITADEL answers at its timeout; this is for the way. */
const GRACE_MS = 10_000;
/** What ZITADEL has imported, its projections show after 2 s at most. */
const projected = { attempts: () => 12, initialDelayMs: 250, maxDelayMs: 2_000 };

/**
 * A sender of import requests, which halves those that are too large or too slow. Requests may be repeated: a ZITADEL
 * reports the records that exist, and leaves them.
 */
export class ImportSender {
  private readonly connection: ZitadelConnection;
  private readonly timeoutMs: number;
  private current = requestLimits;

  constructor(connection: ZitadelConnection, timeoutMs: number) {
    this.connection = connection;
    this.timeoutMs = timeoutMs;
  }

  /** The limits of the next request. */
  get limits(): RequestLimits {
    return this.current;
  }

  /**
   * Sends records in one request, or in halves of it.
   * @param orgId the organisation in whose context ZITADEL handles the request
   */
  async *send(
    records: readonly OutgoingRecord[],
    orgId?: string,
    isRepeat = false,
  ): AsyncGenerator<AnsweredRequest, void, void> {
    const start = performance.now();
    const answer = await this.attempt(records, orgId);
    const milliseconds = performance.now() - start;
    const repeated = isRepeat || answer === undefined || answer.attempts > 1;
    const found = answer?.status === 200 ? report.safeParse(parseIfJson(answer.text)) : undefined;
    if (found?.success === true) return yield { records, errors: found.data.errors, isRepeat: repeated, milliseconds };
    const refusal = refusalBy(answer);
    if (refusal === 'other' && answer !== undefined) throw callError(this.connection, call, answer);
    const [first, second] = records;
    if (first !== undefined && second === undefined) {
      if (refusal === 'tooSlow') throw zitadelImportTooSlow(first.label, this.timeoutMs / 1_000);
      const [type = '', id] = first.label.split(' ');
      const errors = [{ type, id, message: messageIn(answer?.text ?? '') }];
      return yield { records, errors, isRepeat: repeated, milliseconds };
    }
    const middle = Math.ceil(records.length / 2);
    // The next requests would fail like this one. A single invalid record says nothing of them.
    if (refusal !== 'invalid') this.current = { ...this.current, records: Math.min(this.current.records, middle) };
    const wasBegun = repeated || refusal === 'tooSlow';
    yield* this.send(records.slice(0, middle), orgId, wasBegun);
    yield* this.send(records.slice(middle), orgId, wasBegun);
  }

  /** Returns a ZITADEL's answer, or undefined where it gave none in time. */
  private async attempt(records: readonly OutgoingRecord[], orgId?: string): Promise<ZitadelAnswer | undefined> {
    const { signal } = this.connection;
    const body = importBody(records, `${this.timeoutMs}ms`);
    const context = orgId === undefined ? {} : { orgId };
    const backoff = new Backoff(projected, signal);
    for (;;) {
      try {
        const sent = { ...call, body, ...context, timeoutMs: this.timeoutMs + GRACE_MS };
        const answer = await send(this.connection, sent);
        const isUnseen = orgId !== undefined && answer.status === 403 && answer.text.includes('AUTH-Bs7Ds');
        if (!isUnseen || !(await backoff.failed(answer.text))) return answer;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof DOMException && error.name === 'TimeoutError') return undefined;
        throw error;
      }
    }
  }
}

const call = { method: 'POST', path: '/admin/v1/import' } as const;

function refusalBy(answer: ZitadelAnswer | undefined): Refusal {
  if (answer === undefined || answer.status === 504) return 'tooSlow';
  const message = messageIn(answer.text);
  if (answer.status === 429 && message.includes('received message larger than max')) return 'tooLarge';
  if (answer.status === 500 && message.includes('context deadline exceeded')) return 'tooSlow';
  return answer.status === 400 ? 'invalid' : 'other';
}
