import type { LoadAnswer } from './client.ts';
import type { PlacedCall } from './places.ts';

/** When a kind's requests are sent. */
interface Pace {
  /** The number of requests at once, at most. */
  readonly workers: number;
  /** Sends at fixed times, however long the responses take; their time then counts from when they were due. */
  readonly everyMs?: number;
  /** Whether all workers send at the same moment, and not one after the other. */
  readonly isTogether?: boolean;
  /** Pauses after each response instead. */
  readonly pauseMs?: number;
}

/** The outcome of a request. */
export interface Outcome {
  /** The status, or what the client did instead of waiting for it. */
  readonly answer: string;
  /** What is not as it should be. */
  readonly problem?: string | undefined;
}

/** One kind of request in the traffic. */
export interface Kind extends Pace {
  readonly name: string;
  /** The answers that the run must see. */
  readonly asked: readonly string[];
  /** Sends a request. Returns undefined if there is nothing to send yet. */
  send(): Promise<Outcome | undefined>;
}

/** Judges an answer, of which only a status was asked for, and 429 where too many calls were under way. */
export function judge(
  answer: LoadAnswer,
  status: number,
  { call, check }: { call?: PlacedCall; check?: (answer: LoadAnswer) => string | undefined } = {},
): Outcome {
  const outcome = { answer: String(answer.status) };
  if (answer.status === status) return { ...outcome, problem: check?.(answer) };
  if (answer.status === 429 && call?.wasExceeded()) {
    return answer.headers['retry-after'] === undefined ? { ...outcome, problem: '429 without retry-after' } : outcome;
  }
  return { ...outcome, problem: `${answer.status} instead of ${status}: ${answer.tail.slice(0, 300)}` };
}
