/** How long a condition may take to hold. */
export interface PollOptions {
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;
const GROWTH = 1.5;

/** Repeats an attempt until its result is the desired one, the limit is over or the signal aborts; returns the last result. */
export async function poll<Result>(
  attempt: () => Promise<Result>,
  isDesired: (result: Result) => boolean,
  { limitMs, signal }: PollOptions,
): Promise<Result> {
  const end = performance.now() + limitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * GROWTH, LONGEST_PAUSE_MS)) {
    const result = await attempt();
    const leftMs = end - performance.now();
    if (isDesired(result) || leftMs <= 0 || signal?.aborted === true) return result;
    await pause(Math.min(pauseMs, leftMs), signal);
  }
}

/** Waits, or until the signal aborts. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const wake = () => resolve();
  signal?.addEventListener('abort', wake);
  await promise;
  signal?.removeEventListener('abort', wake);
  clearTimeout(timer);
}
