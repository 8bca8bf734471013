import type { PhaseState, ProgressOutput } from './trackPhase.ts';

/** A stream that may be a terminal. */
interface TextStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

const LIVE_MS = 250;
const LINES_MS = 5_000;
const EVENTS_MS = 1_000;
const DEFAULT_COLUMNS = 80;

/** Shows one line per phase, which changes in its place; where the stream is no terminal, a new line every five seconds. */
export function progressLines(stream: TextStream): ProgressOutput {
  return stream.isTTY === true ? liveLine(stream) : plainLines(stream);
}

function liveLine(stream: TextStream): ProgressOutput {
  const CLEAR_TO_END = '\u001b[K';
  const draw = (state: PhaseState) => {
    const line = progressLine(state).slice(0, (stream.columns ?? DEFAULT_COLUMNS) - 1);
    stream.write(`\r${line}${CLEAR_TO_END}`);
  };
  return {
    intervalMs: LIVE_MS,
    show: draw,
    finish(state, hasSucceeded) {
      stream.write(`\r${lastLine(state, hasSucceeded)}${CLEAR_TO_END}\n`);
    },
  };
}

function plainLines(stream: TextStream): ProgressOutput {
  return {
    intervalMs: LINES_MS,
    show: (state) => void stream.write(`${progressLine(state)}\n`),
    finish: (state, hasSucceeded) => void stream.write(`${lastLine(state, hasSucceeded)}\n`),
  };
}

/** Writes one JSON object a line, for programs. */
export function progressEvents(stream: TextStream): ProgressOutput {
  const write = (event: string, { phase, records, seconds, perSecond, secondsLeft }: PhaseState, more: object = {}) => {
    const left = secondsLeft === undefined ? {} : { secondsLeft: Math.ceil(secondsLeft) };
    const facts = { phase, records, seconds: rounded(seconds), perSecond: rounded(perSecond), ...left, ...more };
    stream.write(`${JSON.stringify({ event, ...facts })}\n`);
  };
  return {
    intervalMs: EVENTS_MS,
    show: (state) => write('progress', state),
    finish: (state, hasSucceeded) => write('phase', state, { succeeded: hasSucceeded }),
  };
}

function rounded(number: number): number {
  return Math.round(number * 10) / 10;
}

/** Returns a state as people read it: `exporting: 12,000 records, 3,000/s, 15s left`. */
function progressLine(state: PhaseState): string {
  const { seconds, secondsLeft } = state;
  return `${amount(state)}, ${secondsLeft === undefined ? `${span(seconds)} so far` : `${span(secondsLeft)} left`}`;
}

function lastLine(state: PhaseState, hasSucceeded: boolean): string {
  return `${amount(state)}, ${hasSucceeded ? 'done in' : 'stopped after'} ${span(state.seconds)}`;
}

function amount({ phase, records, perSecond }: PhaseState): string {
  const speed = records === 0 ? '' : `, ${Math.round(perSecond).toLocaleString('en')}/s`;
  return `${phase}: ${records.toLocaleString('en')} records${speed}`;
}

/** Returns a span of time such as `45s`, `3m 20s` or `2h 5m`. */
export function span(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes}m ${whole % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
