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

const WINDOW_MS = 10_000;

/** A measurement of a phase. */
interface Sample {
  readonly atMs: number;
  readonly records: number;
  readonly fraction: number | undefined;
}

/** The speed of the last ten seconds, from which the time left follows: a phase may start slowly, or slow down. */
class RollingRate {
  private readonly samples: Sample[] = [];

  /** Adds a measurement, later than the ones before. */
  add(sample: Sample): void {
    this.samples.push(sample);
    while (this.samples.length > 2 && sample.atMs - (this.samples[1]?.atMs ?? 0) >= WINDOW_MS) this.samples.shift();
  }

  /** Records per second. */
  get perSecond(): number {
    return this.slope(({ records }) => records);
  }

  /** Undefined while nothing says how much there is, or nothing moves. */
  get secondsLeft(): number | undefined {
    const fraction = this.samples.at(-1)?.fraction;
    const perSecond = this.slope((sample) => sample.fraction ?? 0);
    return fraction === undefined || perSecond <= 0 ? undefined : (1 - fraction) / perSecond;
  }

  private slope(value: (sample: Sample) => number): number {
    const [first, last] = [this.samples[0], this.samples.at(-1)];
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0;
    return ((value(last) - value(first)) * 1000) / (last.atMs - first.atMs);
  }
}
