import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type PhaseState,
  progressEvents,
  progressLines,
  startPhase,
  trackPhase,
} from '../../../../cli/terminal/progress.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Runs a phase of 20.5 seconds, which settles 100 of 4,000 records at each second. */
async function runPhase(output: Parameters<typeof trackPhase>[0], work = async () => {}) {
  const startedAt = performance.now();
  const records = () => Math.floor((performance.now() - startedAt) / 1_000) * 100;
  const phase = trackPhase(output, 'exporting', { records, fraction: () => records() / 4_000 }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 20_500));
    return work();
  });
  const settled = phase.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(20_500);
  await settled;
  return phase;
}

function stream(more: object = {}) {
  const written: string[] = [];
  return { written, write: (text: string) => void written.push(text), ...more };
}

type Counts = { readonly records: number; readonly unchanged: number };
type Measured = { readonly records: number; readonly unchanged?: number; readonly fraction?: number };

const ofAll = (records: number, all: number): Measured => ({ records, fraction: records / all });

/** Returns the lines of an import that takes some milliseconds and is measured at any time since its start. */
async function linesOf(ms: number, measure: (elapsed: number) => Measured, counts?: Counts) {
  const target = stream();
  const startedAt = performance.now();
  const measured = () => measure(performance.now() - startedAt);
  const meter = {
    records: () => measured().records,
    unchanged: () => measured().unchanged ?? 0,
    fraction: () => measured().fraction,
  };
  const phase = startPhase(progressLines(target), 'importing', meter);
  await vi.advanceTimersByTimeAsync(ms);
  phase.end(true, counts);
  return target.written.map((line) => line.replace(/^importing: (.*)\n$/, '$1'));
}

describe('the progress of a phase', () => {
  it('is a line every five seconds if the stream is no terminal', async () => {
    const target = stream();
    await runPhase(progressLines(target));
    expect(target.written).toEqual([
      'exporting: 500 records, 12%, 100/s, 35s left\n',
      'exporting: 1,000 records, 25%, 100/s, 30s left\n',
      'exporting: 1,500 records, 37%, 100/s, 25s left\n',
      'exporting: 2,000 records, 50%, 100/s, 20s left\n',
      'exporting: 2,000 records, 98/s, done in 20.5s\n',
    ]);
  });

  it('is one line that changes on a terminal, and never wider than it', async () => {
    const target = stream({ isTTY: true, columns: 20 });
    await runPhase(progressLines(target));
    expect(target.written.length).toBeGreaterThan(80);
    expect(target.written[3]).toBe('\rexporting: 100 reco\u001b[K');
    const wider = stream({ isTTY: true, columns: 27 });
    await runPhase(progressLines(wider));
    expect(wider.written[3]).toBe('\rexporting: 100 records, 2%\u001b[K');
    expect(wider.written.at(-2)).toBe('\rexporting: 2,000 records\u001b[K');
    expect(target.written.slice(0, -1).join('')).not.toContain('\n');
    expect(target.written.at(-1)).toBe('\rexporting: 2,000 records, 98/s, done in 20.5s\u001b[K\n');
  });

  it('is one event per line for programs, including whether the phase has succeeded', async () => {
    const target = stream();
    const failed = runPhase(progressEvents(target), () => Promise.reject(new Error('broken')));
    await expect(failed).rejects.toThrow('broken');
    const events = target.written.map((line) => JSON.parse(line));
    expect(events).toHaveLength(21);
    expect(events[9]).toEqual({
      event: 'progress',
      phase: 'exporting',
      records: 1000,
      unchanged: 0,
      seconds: 10,
      perSecond: 100,
      secondsLeft: 30,
    });
    expect(events.at(-1)).toMatchObject({ event: 'phase', records: 2000, succeeded: false });
  });

  it('states when the phase began, not a time derived from rounded seconds', async () => {
    const begun = new Date().toISOString();
    const started = vi.fn();
    await runPhase({ ...progressLines(stream()), finish: ({ startedAt }) => started(startedAt) });
    expect(started).toHaveBeenCalledExactlyOnceWith(begun);
  });

  it('is in bytes if the phase measures them', async () => {
    const [lines, events] = [stream(), stream()];
    for (const output of [progressLines(lines), progressEvents(events)]) {
      const startedAt = performance.now();
      const bytes = () => (performance.now() - startedAt) * 5_000;
      const meter = { records: () => 0, bytes, fraction: () => bytes() / 100_000_000 };
      const work = () => new Promise((resolve) => setTimeout(resolve, 6_000));
      const phase = trackPhase(output, 'uploading', meter, work);
      await vi.advanceTimersByTimeAsync(6_000);
      await phase;
    }
    expect(lines.written).toEqual([
      'uploading: 25,000,000 bytes, 25%, 5,000,000/s, 15s left\n',
      'uploading: 30,000,000 bytes, 5,000,000/s, done in 6s\n',
    ]);
    expect(JSON.parse(events.written.at(-1) ?? '')).toMatchObject({ records: 0, bytes: 30_000_000, unchanged: 0 });
  });

  it.each<[name: string, ms: number, measure: (elapsed: number) => Measured, lines: readonly string[]]>([
    [
      'follows the speed of the last seconds',
      31_000,
      (elapsed) => ({ records: Math.max(0, elapsed - 20_000) / 10 }),
      [
        '0 records, 5s so far',
        '0 records, 10s so far',
        '0 records, 15s so far',
        '0 records, 20s so far',
        '500 records, 100/s, 25s so far',
        '1,000 records, 100/s, 30s so far',
        '1,100 records, 36/s, done in 31s',
      ],
    ],
    [
      'has no estimate once everything has passed',
      21_000,
      (elapsed) => ({ records: 10, fraction: elapsed > 9_000 ? 1 : 0.5 }),
      [
        '10 records, 50%, 2/s, 5s so far',
        '10 records, 1/s',
        '10 records',
        '10 records',
        '10 records, 1/s, done in 21s',
      ],
    ],
    [
      'has no estimate before a hundredth of the work is measured, and then that of the last step',
      61_000,
      // The organisations are settled in half a second, then 5,000 people every 20 seconds.
      (elapsed) => ofAll(elapsed < 500 ? 0 : 2 + 5_000 * Math.min(3, Math.floor(elapsed / 20_000)), 15_002),
      [
        ...['2 records, 5s so far', '2 records, 10s so far', '2 records, 15s so far'],
        ...['39s', '34s', '29s', '24s'].map((left) => `5,002 records, 33%, 256/s, ${left} left`),
        ...['20s', '15s', '10s', '5s'].map((left) => `10,002 records, 66%, 250/s, ${left} left`),
        ...['15,002 records, 250/s', '15,002 records, 246/s, done in 1m 1s'],
      ],
    ],
    [
      'has no estimate while the next records take longer than all before',
      22_000,
      // 14 records take a second, and the request with all others 20.
      (elapsed) => ofAll(elapsed < 1_000 ? 0 : 14, 471),
      [
        '14 records, 2%, 3/s, 5s so far',
        ...['10s', '15s', '20s'].map((passed) => `14 records, 2%, 1/s, ${passed} so far`),
        '14 records, 1/s, done in 22s',
      ],
    ],
    [
      'keeps its speed, and has no estimate, once everything has passed',
      21_000,
      (elapsed) => ofAll(Math.min(1_000, elapsed / 10), 1_000),
      [
        '500 records, 50%, 100/s, 5s left',
        ...Array(3).fill('1,000 records, 100/s'),
        '1,000 records, 48/s, done in 21s',
      ],
    ],
  ])('%s', async (_name, ms, measure, lines) => {
    expect(await linesOf(ms, measure)).toEqual(lines);
  });

  it('has no estimate in the first seconds', async () => {
    const target = stream({ isTTY: true });
    await runPhase(progressLines(target));
    const early = target.written.filter((line) => / [123]s (so far|left)/.test(line));
    expect(early.length).toBeGreaterThan(0);
    expect(early.filter((line) => line.includes('left'))).toEqual([]);
  });

  it.each([
    [2_500, { records: 20_000, unchanged: 10_000 }, '20,000 records (10,000 unchanged), 4,000/s, done in 2.5s'],
    [2_500, { records: 20_000, unchanged: 19_000 }, '20,000 records (19,000 unchanged), done in 2.5s'],
    [2_500, { records: 20_010, unchanged: 20_010 }, '20,010 records (20,010 unchanged), done in 2.5s'],
    [500, { records: 77, unchanged: 0 }, '77 records, done in 0.5s'],
    [13_120, { records: 13_200, unchanged: 0 }, '13,200 records, 1,000/s, done in 13.2s'],
  ])('has the speed of new records, measured over at least a second: %#', async (ms, counts, line) => {
    expect((await linesOf(ms, () => counts, counts)).at(-1)).toBe(line);
  });

  it('has no speed after an interruption, because some records in flight may be missing', async () => {
    const target = stream();
    const work = () => new Promise<void>((_, reject) => setTimeout(reject, 2_500, new Error('cut')));
    const phase = trackPhase(progressLines(target), 'sending', { records: () => 10_568 }, work);
    const failed = expect(phase).rejects.toThrow('cut');
    await vi.advanceTimersByTimeAsync(2_500);
    await failed;
    expect(target.written).toEqual(['sending: 10,568 records, stopped after 2.5s\n']);
  });

  it('never falls, has no negative rate, and ends with the result, for any measurements', async () => {
    const number = fc.integer({ min: -5, max: 50 });
    const measured = fc.record({ records: number, unchanged: number, fraction: fc.double({ noNaN: true }) });
    const isEnding = fc.boolean();
    await fc.assert(
      fc.asyncProperty(fc.array(measured, { minLength: 1 }), fc.nat(100), isEnding, async (steps, result, isDone) => {
        const states: PhaseState[] = [];
        const last: PhaseState[] = [];
        const show = (state: PhaseState) => void states.push(state);
        const output = {
          intervalMs: 100,
          show,
          finish: (state: PhaseState) => void last.push(state),
          retry() {},
          wait() {},
          warn() {},
        };
        let step = 0;
        const at = () => steps[Math.min(step, steps.length - 1)] ?? { records: 0, unchanged: 0, fraction: 0 };
        const meter = { records: () => at().records, unchanged: () => at().unchanged, fraction: () => at().fraction };
        const work = async () => {
          for (; step < steps.length; step++) await new Promise((resolve) => setTimeout(resolve, 700));
          phase.end(isDone, isDone ? { records: result, unchanged: 0 } : undefined);
        };
        const phase = startPhase(output, 'importing', meter);
        const working = work();
        await vi.advanceTimersByTimeAsync(700 * steps.length);
        await working;
        const counts = states.map(({ records }) => records);
        expect(counts).toEqual(counts.toSorted((a, b) => a - b));
        expect(Math.max(0, ...counts)).toBeLessThanOrEqual(Math.max(0, ...steps.map(({ records }) => records)));
        for (const { perSecond, seconds, secondsLeft = 0, records, unchanged } of [...states, ...last]) {
          expect(perSecond).toBeGreaterThanOrEqual(0);
          // A speed has one digit after the point.
          if (seconds <= 10)
            expect(Math.abs(perSecond * seconds - records + unchanged)).toBeLessThan(0.06 * seconds + 0.01);
          expect(unchanged).toBeGreaterThanOrEqual(0);
          expect(unchanged).toBeLessThanOrEqual(records);
          expect(secondsLeft).toBeGreaterThanOrEqual(0);
        }
        expect(last).toHaveLength(1);
        if (isDone) expect(last[0]?.records).toBe(result);
      }),
      { numRuns: 50 },
    );
  });
});
