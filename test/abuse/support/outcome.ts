import type { TestContext } from 'vitest';
import { type AbuseName, abuseTable, type Place } from './abuseTable.ts';

/** An abuse of the table that a process has withstood. */
export interface Outcome {
  readonly name: AbuseName;
  readonly place: Place;
  /** The largest resident set of the process. */
  readonly peakBytes: number;
}

declare module 'vitest' {
  interface TaskMeta {
    /** What the test's process has withstood, for the report. */
    outcomes?: Outcome[];
  }
}

/** Notes for the report that a process has withstood an abuse. */
export function noteOutcome({ task }: Pick<TestContext, 'task'>, outcome: Outcome): void {
  task.meta.outcomes = [...(task.meta.outcomes ?? []), outcome];
}

const HEAD = ['request', 'on', 'response', 'peak of memory'];

/** Every line that the report has, in its order. */
const lines: readonly (readonly [AbuseName, Place])[] = Object.keys(abuseTable)
  .filter((name): name is AbuseName => name in abuseTable)
  .flatMap((name) => abuseTable[name].places.map((place) => [name, place] as const));

/** Returns the names of the table's lines that no outcome stands for. */
export function missingOutcomes(outcomes: readonly Outcome[]): string[] {
  return lines
    .filter(([name, place]) => peakIn(outcomes, name, place) === 0)
    .map(([name, place]) => `${abuseTable[name].abuse} (${place})`);
}

/** The report's table in Markdown. */
export function outcomeTable(outcomes: readonly Outcome[]): string {
  const rows = lines.map(([name, place]) => {
    const { abuse, response } = abuseTable[name];
    return [abuse, place, response, `${Math.round(peakIn(outcomes, name, place) / 2 ** 20)} MiB`];
  });
  return [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function peakIn(outcomes: readonly Outcome[], name: AbuseName, place: Place): number {
  return Math.max(0, ...outcomes.filter((one) => one.name === name && one.place === place).map((one) => one.peakBytes));
}
