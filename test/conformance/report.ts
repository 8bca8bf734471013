import type { CleanUp } from './cleanUp.ts';
import type { Row } from './row.ts';
import type { Outcome } from './runRow.ts';

/** A row and what became of it. */
export interface Result {
  readonly row: Row;
  readonly outcome: Outcome;
}

const labels = {
  passed: 'passed',
  decided: 'differs',
  failed: 'FAILED',
  lost: 'FAILED',
  'not run': 'not run',
} as const;
const UNTRIED = 'Only the stand-in has passed this row so far: look at the row first.';
const ORIGIN_WIDTH = 24;
const INDENT = '         ';

/** The line of a row, and under it why it differs or what is wrong. */
export function line(result: Result): string {
  return [head(result), ...notes(result).map((note) => `${INDENT}${note}`)].join('\n');
}

function head({ row, outcome }: Result): string {
  const mark = row.isUntried === true && outcome.kind === 'passed' ? ' (no running ZITADEL has passed it yet)' : '';
  return `${labels[outcome.kind].padEnd(8)} ${row.origin.padEnd(ORIGIN_WIDTH)} ${row.name}${mark}`;
}

/** Why a row differs or was not run, or what is wrong. */
export function notes({ row: { danger, isUntried }, outcome }: Result): readonly string[] {
  const untried = isUntried === true && danger === undefined ? [UNTRIED] : [];
  switch (outcome.kind) {
    case 'passed':
      return [];
    case 'failed':
      return [...outcome.differences, ...untried];
    case 'lost':
      return [...outcome.differences, ...(danger === undefined ? untried : [danger])];
    default:
      return [outcome.why];
  }
}

/** Whether a row shows a fault of the server. */
export function isFailure({ outcome: { kind } }: Result): boolean {
  return kind === 'failed' || kind === 'lost';
}

/** How many rows there are of each kind. */
function summary(results: readonly Result[]): string {
  const count = (kind: Outcome['kind']) => results.filter(({ outcome }) => outcome.kind === kind).length;
  const [passed, decided, notRun] = [count('passed'), count('decided'), count('not run')];
  const failed = results.filter(isFailure).length;
  return `${results.length} rows: ${passed} passed, ${decided} differ by decision, ${failed} failed, ${notRun} not run`;
}

/** What a run ends with: why it halted, the rows that failed, what it left on the server, and the summary. */
export function ending(results: readonly Result[], halted: string | undefined, cleaned: CleanUp): string {
  const failures = results.filter(isFailure);
  return [
    ...(halted === undefined
      ? []
      : [`${results.length === 0 ? 'Nothing was run' : 'The other rows were not run'}: ${halted}.`]),
    ...(failures.length === 0 ? [] : ['Failed:', ...failures.map((failure) => `  ${head(failure)}`)]),
    ...leftovers(cleaned),
    summary(results),
  ].join('\n');
}

function leftovers({ removed, left, why, membership }: CleanUp): string[] {
  const done = [
    ...(removed.length === 0 ? [] : [`Removed ${removed.length} organisations that the run created.`]),
    ...(membership === undefined ? [] : [`Left ${membership}.`]),
  ];
  if (left.length === 0) return done;
  const heading = `Left ${left.length} organisations that the run created, since ${why}:`;
  return [...done, heading, ...left.map((orgId) => `  ${orgId}`)];
}
