import { createHistogram } from 'node:perf_hooks';
import type { Kind, Outcome } from './kind.ts';

/** The problems that are kept as examples. */
const EXAMPLES = 5;

/** What the requests of one kind have come to. Times are milliseconds. */
export interface KindResult {
  readonly name: string;
  readonly count: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly problems: number;
  readonly examples: readonly string[];
}

/** The outcomes of the requests of one kind. */
export class Ledger {
  readonly #kind: Kind;
  readonly #microseconds = createHistogram();
  readonly #answers = new Map<string, number>();
  readonly #examples: string[] = [];
  #problems = 0;

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  /** The answers that were asked for and have not come yet. */
  get missing(): readonly string[] {
    return this.#kind.asked.filter((answer) => !this.#answers.has(answer));
  }

  /** Takes the outcome of a request, and its time. */
  add({ answer, problem }: Outcome, milliseconds: number): void {
    this.#microseconds.record(Math.max(1, Math.round(1_000 * milliseconds)));
    this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1);
    if (problem === undefined) return;
    this.#problems++;
    if (this.#examples.length < EXAMPLES) this.#examples.push(`${this.#kind.name}: ${problem}`);
  }

  /** Sums up; an answer that was asked for and never came is a problem. */
  result(seconds: number): KindResult {
    const { missing } = this;
    const { name } = this.#kind;
    const { count, max } = this.#microseconds;
    const percentile = (percent: number) => (count === 0 ? 0 : this.#microseconds.percentile(percent) / 1_000);
    return {
      name,
      count,
      perSecond: count / seconds,
      p50: percentile(50),
      p99: percentile(99),
      p999: percentile(99.9),
      max: count === 0 ? 0 : max / 1_000,
      answers: Object.fromEntries([...this.#answers].sort(([a], [b]) => a.localeCompare(b))),
      problems: this.#problems + missing.length,
      examples: [...this.#examples, ...missing.map((answer) => `${name}: never ${answer}`)],
    };
  }
}
