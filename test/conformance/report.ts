import type { Row } from './row.ts';
import type { Outcome } from './runRow.ts';

/** A row and what became of it. */
export interface Result {
  readonly row: Row;
  readonly outcome: Outcome;
}

const labels = { passed: 'passed', decided: 'differs', failed: 'FAILED', 'not run': 'not run' } as const;
const ORIGIN_WIDTH = 24;

/** The line of a row, and under it why it differs or what is wrong. */
export function line({ row, outcome }: Result): string {
  const head = `${labels[outcome.kind].padEnd(8)} ${row.origin.padEnd(ORIGIN_WIDTH)} ${row.name}`;
  return [head, ...notes(outcome).map((note) => `         ${note}`)].join('\n');
}

function notes(outcome: Outcome): readonly string[] {
  if (outcome.kind === 'passed') return [];
  return outcome.kind === 'failed' ? outcome.differences : [outcome.why];
}

/** How many rows there are of each kind. */
export function summary(results: readonly Result[]): string {
  const count = (kind: Outcome['kind']) => results.filter(({ outcome }) => outcome.kind === kind).length;
  const [passed, decided, failed, notRun] = [count('passed'), count('decided'), count('failed'), count('not run')];
  return `${results.length} rows: ${passed} passed, ${decided} differ by decision, ${failed} failed, ${notRun} not run`;
}
