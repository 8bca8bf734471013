import { RollingRate } from './rollingRate.ts';

/** What is known of a running phase. */
export interface Meter {
  readonly records: () => number;
  /** The share of the work that is done, from 0 to 1; undefined while it is unknown. */
  readonly fraction?: () => number | undefined;
}

/** The state of a phase, as it is shown. */
export interface PhaseState {
  /** What happens, such as `exporting`. */
  readonly phase: string;
  readonly seconds: number;
  readonly records: number;
  readonly perSecond: number;
  readonly secondsLeft: number | undefined;
}

/** Where progress is shown. */
export interface ProgressOutput {
  /** Milliseconds between two states. */
  readonly intervalMs: number;
  show(state: PhaseState): void;
  /** Shows the last state of a phase, which has succeeded or failed. */
  finish(state: PhaseState, hasSucceeded: boolean): void;
}

/** Does the work of one phase, and shows its progress meanwhile. */
export async function trackPhase<Result>(
  output: ProgressOutput,
  phase: string,
  meter: Meter,
  work: () => Promise<Result>,
): Promise<Result> {
  const startedAt = performance.now();
  const rate = new RollingRate();
  const measure = (): PhaseState => {
    const atMs = performance.now();
    const records = meter.records();
    rate.add({ atMs, records, fraction: meter.fraction?.() });
    const { perSecond, secondsLeft } = rate;
    return { phase, seconds: (atMs - startedAt) / 1000, records, perSecond, secondsLeft };
  };
  measure();
  const timer = setInterval(() => output.show(measure()), output.intervalMs);
  let hasSucceeded = false;
  try {
    const result = await work();
    hasSucceeded = true;
    return result;
  } finally {
    clearInterval(timer);
    const { records, seconds, ...last } = measure();
    // At the end, the speed of the whole phase says more than that of its last seconds.
    const perSecond = seconds > 0 ? records / seconds : 0;
    output.finish({ ...last, records, seconds, perSecond, secondsLeft: undefined }, hasSucceeded);
  }
}
