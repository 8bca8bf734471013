import { afterAll, describe, expect, it, vi } from 'vitest';
import { reconnecting } from '../../../../cli/http/reconnection.ts';
import { progressEvents, progressLines } from '../../../../cli/terminal/progress.ts';
import { shuttingDown } from '../../../../shared/errors/httpErrors.ts';
import { placeFailed, placeLost, placeTimedOut, placeUnreachable } from '../../../../shared/errors/placeErrors.ts';

// Modules that an earlier test file has loaded do not know the mocks, and later files must not get them.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
// Does not wait.
vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

const lost = placeUnreachable({ place: 'https://id.example.com', reason: 'ECONNREFUSED' });

/** Does work that fails with some errors, one per attempt, and then succeeds. */
async function attempt(errors: readonly Error[], limitMs?: number, json = false) {
  const written: string[] = [];
  const stream = { write: (text: string) => void written.push(text) };
  const controller = new AbortController();
  let attempts = 0;
  const work = async () => {
    const error = errors[attempts++];
    if (error !== undefined) throw error;
    return 'done';
  };
  const output = json ? progressEvents(stream) : progressLines(stream);
  const running = reconnecting({ output, signal: controller.signal, limitMs }, work).catch((error: unknown) => error);
  return { result: await running, attempts, written };
}

describe('work on a place whose connection is lost', () => {
  const shutDown = placeFailed(
    { place: 'north', reason: 'the server is shutting down' },
    { cause: shuttingDown().toJson() },
  );
  it.each([lost, placeLost({ place: 'north', moment: 'during its export', reason: 'ECONNRESET' }), shutDown])(
    'is retried: %s',
    async (error) => {
      const { result, written } = await attempt([error, error]);
      expect(result).toBe('done');
      expect(written).toEqual([`${error.text}: trying again in 1 s\n`, `${error.text}: trying again in 2 s\n`]);
    },
  );

  it('is reported to programs with its reason', async () => {
    const { written } = await attempt([lost], undefined, true);
    expect(JSON.parse(written[0] ?? '')).toEqual({ event: 'retry', problem: lost.text, seconds: 1 });
  });

  it.each([
    ['a minute', undefined, [1, 2, 4, 8, 16, 29]],
    ['its limit', 7_000, [1, 2, 4]],
    ['half a second', 500, [0.5]],
  ])('fails with the error after waits of %s', async (_limit, limitMs, waits) => {
    const { result, attempts, written } = await attempt(Array(1_000).fill(lost), limitMs, true);
    expect({ result, attempts }).toEqual({ result: lost, attempts: waits.length + 1 });
    expect(written.map((line) => JSON.parse(line).seconds)).toEqual(waits);
  });

  it('fails with the error of a place that has not responded for a minute, or for its limit', async () => {
    const silent = placeTimedOut({ place: 'https://id.example.com', call: 'GET /openapi.json', seconds: 30 });
    expect(await attempt([silent])).toMatchObject({ result: silent, attempts: 1, written: [] });
    expect(await attempt(Array(1_000).fill(silent), 150_000)).toMatchObject({ result: silent, attempts: 3 });
  });

  it('fails at once with an error response of the place', async () => {
    const answer = placeFailed({ place: 'https://id.example.com', reason: 'status 503' });
    expect(await attempt([answer])).toMatchObject({ result: answer, attempts: 1, written: [] });
  });
});
