import { setTimeout } from 'node:timers/promises';

/**
 * Repeats small requests, one after the other, until some work has ended.
 * @param ask sends one request, and checks its answer
 * @returns the work's result, and the number of requests that were answered before its end
 */
export async function askMeanwhile<Result>(
  work: Promise<Result>,
  ask: () => Promise<void>,
): Promise<{ readonly result: Result; readonly answered: number }> {
  const PAUSE_MS = 10;
  let isRunning = true;
  const ended = work.finally(() => {
    isRunning = false;
  });
  // Its error is thrown below.
  ended.catch(() => undefined);
  let answered = 0;
  while (isRunning) {
    await ask();
    if (isRunning) answered++;
    await Promise.race([setTimeout(PAUSE_MS), ended.catch(() => undefined)]);
  }
  return { result: await ended, answered };
}
