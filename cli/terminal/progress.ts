import type { LockHolder } from '../../shared/store/lock/instanceLock.ts';
import { counted, figures, numberText } from './numberTexts.ts';
import { DEFAULT_COLUMNS, printable, printableJson, type TerminalStream } from './terminal.ts';

export interface Meter {
  readonly records: () => number;
  /** Undefined if the phase measures records instead of bytes. */
  readonly bytes?: () => number | undefined;
  /** The number of processed records that already existed in the target. The speed does not include these records. */
  readonly unchanged?: () => number;
  /** The fraction of the work that is complete, from 0 to 1; undefined if it is unknown. */
  readonly fraction?: () => number | undefined;
  /** How long the phase has waited for another operation, in milliseconds. The speed does not include this time. */
  readonly waitedMs?: () => number;
  /** True if the phase measures nothing before its end. Until then, its speed is unknown. */
  readonly isOpaque?: true;
}

export interface PhaseState {
  readonly phase: string;
  /** When the phase began, as an ISO 8601 date. */
  readonly startedAt: string;
  readonly seconds: number;
  readonly records: number;
  /** Absent if the phase measures records instead of bytes. */
  readonly bytes?: number;
  readonly unchanged: number;
  /** The speed in bytes per second, or in records per second. Records that already existed do not count. */
  readonly perSecond: number;
  readonly secondsLeft: number | undefined;
  /** The fraction of the work that is complete, from 0 to 1; undefined if it is unknown. */
  readonly fraction: number | undefined;
  /**
   * True if the remaining time was shown before, or if all records are processed. The output then does not show the
   * elapsed time, because users would mistake it for the remaining time.
   */
  readonly isEnding: boolean;
}

export interface ProgressOutput {
  /** The time between two calls of `show`, in milliseconds. */
  readonly intervalMs: number;
  show(state: PhaseState): void;
  finish(state: PhaseState, hasSucceeded: boolean): void;
  /**
   * Reports that a call will be repeated.
   * @param problem the reason, such as a lost connection or a busy server
   * @param seconds the time until the repeated call
   */
  retry(problem: string, seconds: number): void;
  wait(holder: LockHolder): void;
  warn(text: string): void;
}

export interface CallContext {
  readonly output: ProgressOutput;
  readonly signal: AbortSignal;
}

/** The remaining time is estimated only after this time, because a phase may be slower at first. */
const MIN_MEASURED_SECONDS = 3;

type FinalCounts = Pick<PhaseState, 'records' | 'unchanged'>;

export interface RunningPhase {
  /** @param counts the final counts; if absent, the last measured counts are shown */
  end(hasSucceeded: boolean, counts?: FinalCounts): void;
}

/** Shows the progress of a phase until its end. The shown numbers never decrease. */
export function startPhase(output: ProgressOutput, phase: string, meter: Meter): RunningPhase {
  const begunMs = performance.now();
  const startedAt = new Date().toISOString();
  const rate = new RollingRate();
  let records = 0;
  let moved = 0;
  let isEnding = false;
  let fraction: number | undefined;
  // The elapsed seconds are rounded up, so that the shown speed is never too high.
  const elapsed = () => Math.ceil((performance.now() - begunMs) / 100) / 10;
  const workedSeconds = (seconds: number) => Math.max(0, seconds - (meter.waitedMs?.() ?? 0) / 1000);
  const measure = (): PhaseState => {
    records = Math.max(records, meter.records());
    const share = meter.fraction?.();
    if (share !== undefined) fraction = Math.max(fraction ?? 0, Math.min(1, share));
    const bytes = meter.bytes?.();
    moved = Math.max(moved, bytes ?? records - Math.max(0, meter.unchanged?.() ?? 0));
    rate.add({ atMs: performance.now(), records: moved, fraction });
    const seconds = elapsed();
    const secondsLeft = seconds <= MIN_MEASURED_SECONDS ? undefined : rate.secondsLeft;
    isEnding ||= secondsLeft !== undefined || fraction === 1;
    const worked = workedSeconds(seconds);
    const measured = worked * 1000 <= WINDOW_MS ? pace(moved, worked) : rounded(rate.perSecond);
    const perSecond = meter.isOpaque === true ? 0 : measured;
    const amounts = bytes === undefined ? { unchanged: records - moved } : { bytes: moved, unchanged: 0 };
    return { phase, startedAt, records, ...amounts, seconds, perSecond, secondsLeft, fraction, isEnding };
  };
  measure();
  const timers = [setInterval(measure, SAMPLE_MS), setInterval(() => output.show(measure()), output.intervalMs)];
  return {
    end: (hasSucceeded, counts) => {
      for (const timer of timers) clearInterval(timer);
      const last = { ...measure(), ...counts };
      // At the end of a phase, the progress shows the average speed of the whole phase.
      const perSecond = pace(movedBy(last), workedSeconds(last.seconds));
      output.finish({ ...last, perSecond, secondsLeft: undefined }, hasSucceeded);
    },
  };
}

export async function trackPhase<Result>(
  output: ProgressOutput,
  phase: string,
  meter: Meter,
  work: () => Promise<Result>,
): Promise<Result> {
  const running = startPhase(output, phase, meter);
  try {
    const result = await work();
    running.end(true);
    return result;
  } catch (error) {
    running.end(false);
    throw error;
  }
}

const WINDOW_MS = 10_000;
/** The time between two measurements. The progress may be shown less often. */
const SAMPLE_MS = 250;

interface Sample {
  readonly atMs: number;
  readonly records: number;
  readonly fraction: number | undefined;
}

/** The remaining time is estimated only after this fraction of the work. */
const MIN_MEASURED_SHARE = 0.01;

/**
 * Measures the speed of the last ten seconds, and estimates the remaining time from this speed. If progress comes only
 * in larger steps, as with ZITADEL, measures the speed of the last step.
 */
class RollingRate {
  /** The measurements of the last ten seconds. Omits a measurement without progress since the previous measurement. */
  private readonly samples: Sample[] = [];
  private startFraction = 0;
  private nowMs = 0;

  /** Adds a measurement, which must be later than all earlier measurements. */
  add(sample: Sample): void {
    this.nowMs = sample.atMs;
    const last = this.samples.at(-1);
    if (last === undefined) this.startFraction = sample.fraction ?? 0;
    else if (last.records === sample.records && last.fraction === sample.fraction) return;
    this.samples.push(sample);
    while (this.samples.length > 2 && sample.atMs - (this.samples[0]?.atMs ?? 0) > WINDOW_MS) this.samples.shift();
  }

  get perSecond(): number {
    return this.slope(({ records }) => records);
  }

  /**
   * The remaining time in seconds. Undefined if it is too early for an estimate, if there is no progress, and after all
   * records are processed.
   */
  get secondsLeft(): number | undefined {
    const { fraction, atMs = 0 } = this.samples.at(-1) ?? {};
    // A fraction of 1 means that all records are processed but the phase has not ended. The time until its end cannot
    // be estimated.
    if (fraction === undefined || fraction === 1) return undefined;
    const share = (fraction - this.startFraction) / (1 - this.startFraction);
    const perSecond = this.slope((sample) => sample.fraction ?? 0);
    if (share < MIN_MEASURED_SHARE || perSecond <= 0 || this.isStalled) return undefined;
    const secondsLeft = (1 - fraction) / perSecond - (this.nowMs - atMs) / 1000;
    return secondsLeft > 0 ? secondsLeft : undefined;
  }

  private slope(value: (sample: Sample) => number): number {
    const first = this.samples[0];
    const last = this.samples.at(-1);
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0;
    return ((value(last) - value(first)) * 1000) / ((this.isStalled ? this.nowMs : last.atMs) - first.atMs);
  }

  /** True if the last progress was longer ago than the time that the measurements cover. The speed is then unknown. */
  private get isStalled(): boolean {
    const first = this.samples[0];
    const last = this.samples.at(-1);
    if (first === undefined || last === undefined) return false;
    return last.fraction !== 1 && this.nowMs - last.atMs > last.atMs - first.atMs;
  }
}

interface TextStream extends TerminalStream {
  write(text: string): unknown;
}

const LIVE_MS = 250;
const LINES_MS = 5_000;
const EVENTS_MS = 1_000;
const CLEAR_TO_END = '\u001b[K';

/**
 * Shows progress on a stream: on a terminal, one line per phase that is updated in place; otherwise, a new line every
 * five seconds.
 */
export function progressLines(stream: TextStream): ProgressOutput {
  const isLive = stream.isTTY === true;
  const draw = (line: string, end: string) => stream.write(isLive ? `\r${line}${CLEAR_TO_END}${end}` : `${line}\n`);
  const width = isLive ? (stream.columns ?? DEFAULT_COLUMNS) - 1 : Number.POSITIVE_INFINITY;
  return {
    intervalMs: isLive ? LIVE_MS : LINES_MS,
    show: (state) => void draw(fitted(progressLine(state), width), ''),
    finish: (state, hasSucceeded) => void draw(lastLine(state, hasSucceeded), '\n'),
    retry: (problem, seconds) => void stream.write(`${printable(problem)}: trying again in ${numberText(seconds)} s\n`),
    wait: (holder) => void stream.write(`${waitText(holder)}\n`),
    warn: (text) => void stream.write(`${text}\n`),
  };
}

export function progressEvents(stream: TextStream): ProgressOutput {
  const write = (
    event: string,
    { isEnding: _, startedAt: _start, fraction: _fraction, secondsLeft, ...state }: PhaseState,
    more: object = {},
  ) => {
    const facts = { event, ...state, secondsLeft: secondsLeft && Math.ceil(secondsLeft), ...more };
    stream.write(`${printableJson(facts)}\n`);
  };
  return {
    intervalMs: EVENTS_MS,
    show: (state) => write('progress', state),
    finish: (state, hasSucceeded) => write('phase', state, { succeeded: hasSucceeded }),
    retry: (problem, seconds) => stream.write(`${printableJson({ event: 'retry', problem, seconds })}\n`),
    wait: (holder) => void stream.write(`${printableJson({ event: 'wait', ...holder, text: waitText(holder) })}\n`),
    warn: (text) => void stream.write(`${printableJson({ event: 'warning', text })}\n`),
  };
}

function waitText({ operation, caller, since }: LockHolder): string {
  return `waiting for another operation to end: ${operation}, which ${caller} began at ${since}`;
}

function rounded(number: number): number {
  return Math.round(number * 10) / 10;
}

const SEPARATOR = ', ';

/**
 * Removes parts from the end of a line until the line fits into the width. Removes a part as a whole, because the
 * digits of a truncated number would be wrong.
 */
function fitted(line: string, width: number): string {
  const end = line.lastIndexOf(SEPARATOR);
  return line.length <= width || end < 0 ? line.slice(0, width) : fitted(line.slice(0, end), width);
}

/** Formats the state of a running phase, such as `exporting: 12,000 records, 21%, 3,000/s, 15s left`. */
function progressLine(state: PhaseState): string {
  const { seconds, secondsLeft, isEnding } = state;
  if (secondsLeft !== undefined) return `${amount(state)}, ${span(Math.ceil(secondsLeft))} left`;
  return isEnding ? amount(state) : `${amount(state)}, ${span(seconds)} so far`;
}

function lastLine(state: PhaseState, hasSucceeded: boolean): string {
  const { phase, seconds } = state;
  return `${phase}: ${settledText(state)}${speed({ ...state, succeeded: hasSucceeded })}, ${hasSucceeded ? 'done in' : 'stopped after'} ${span(seconds)}`;
}

function amount(state: PhaseState): string {
  return `${state.phase}: ${amountText(state)}${shareText(state)}${speed(state)}`;
}

function shareText({ fraction = 0 }: Pick<PhaseState, 'fraction'>): string {
  const percent = Math.floor(100 * fraction);
  return percent > 0 && percent < 100 ? `, ${percent}%` : '';
}

/** The numbers of a phase. If `succeeded` is false, the phase may not have processed all of its records. */
type Pace = Pick<PhaseState, 'seconds' | 'records' | 'bytes' | 'unchanged' | 'perSecond'> & {
  readonly succeeded?: boolean;
};

/** Formats the numbers of a phase that has ended, such as `12,000 records (2,000 unchanged) in 5s, 2,000/s`. */
export function phaseText(phase: Pace): string {
  return `${settledText(phase)} in ${span(phase.seconds)}${speed(phase)}`;
}

function amountText({ records, bytes }: Pick<PhaseState, 'records' | 'bytes'>): string {
  return bytes === undefined ? counted(records, 'record') : counted(bytes, 'byte');
}

function settledText(phase: Pace): string {
  const others = figures({ unchanged: phase.unchanged });
  return `${amountText(phase)}${others.length === 0 ? '' : ` (${others.join(', ')})`}`;
}

/** Returns the number from which the speed is calculated: the bytes, or the records that did not exist before. */
function movedBy({ records, bytes, unchanged }: Pick<PhaseState, 'records' | 'bytes' | 'unchanged'>): number {
  return bytes ?? records - unchanged;
}

function pace(moved: number, seconds: number): number {
  return seconds > 0 ? rounded(moved / seconds) : 0;
}

/**
 * Formats the speed of a phase. Returns an empty text if the speed would mislead: if the phase failed, if it took less
 * than a second, or if most records already existed.
 */
function speed({ seconds, records, unchanged, perSecond, succeeded = true }: Pace): string {
  const whole = Math.round(perSecond);
  const isMeaningful = succeeded && seconds >= 1 && 2 * unchanged <= records && whole > 0;
  return isMeaningful ? `, ${numberText(whole)}/s` : '';
}

/** Formats a duration, such as `0.5s`, `45s`, `3m 20s` or `2h 5m`. */
export function span(seconds: number): string {
  if (seconds < 60) return `${rounded(seconds)}s`;
  const whole = Math.ceil(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes}m ${whole % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
