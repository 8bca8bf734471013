const WINDOW_MS = 10_000;

/** A measurement of a phase. */
interface Sample {
  readonly atMs: number;
  readonly records: number;
  readonly fraction: number | undefined;
}

/** The speed of the last ten seconds, from which the time left follows: a phase may start slowly, or slow down. */
export class RollingRate {
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
