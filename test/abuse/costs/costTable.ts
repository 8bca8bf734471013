import type { TestContext } from 'vitest';
import type { Cost, CostRow, MeasuredCost } from './costRow.ts';
import { personRows } from './persons.ts';
import { strangerRows } from './strangers.ts';
import { transferRows } from './transfers.ts';

/** Every request whose cost is measured: `docs/reliability/abuse.md` has its rows from here with the figures of a run. */
export const costRows: readonly CostRow[] = [...strangerRows, ...personRows, ...transferRows];

/** What the request of a row has cost. */
export interface Costs {
  readonly request: string;
  readonly cost: MeasuredCost;
}

declare module 'vitest' {
  interface TaskMeta {
    /** What the test has measured, for the report. */
    costs?: Costs;
  }
}

/** Notes for the report what a request has cost. */
export function noteCost({ task }: Pick<TestContext, 'task'>, costs: Costs): void {
  task.meta.costs = costs;
}

const HEAD = ['caller', 'request', "processor's time", 'as so many removals', 'memory', 'disk', 'places'];

/** The report's table in Markdown. */
export function costLines(measured: readonly Costs[]): string {
  const rows = costRows.map(({ caller, request, places, most }) => {
    const cost = measured.find((one) => one.request === request)?.cost;
    return [caller, request, ...(cost === undefined ? ['', '', '', ''] : cells(cost, most)), places];
  });
  return [HEAD, HEAD.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** The figures of a request, each with its bound. */
function cells({ processorMs, removals, memoryBytes, diskBytes }: MeasuredCost, most: Cost): readonly string[] {
  const bounded = (value: string, bound: string) => `${value} of ${bound}`;
  return [
    processorMs < 100 ? `${rounded(processorMs)} ms` : `${rounded(processorMs / 1_000)} s`,
    bounded(rounded(removals), count(most.removals)),
    bounded(size(memoryBytes), size(most.memoryBytes)),
    bounded(size(diskBytes), size(most.diskBytes)),
  ];
}

function rounded(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 2 });
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** Prints a size; a page of memory or less is what the measuring itself takes. */
function size(bytes: number): string {
  if (bytes < 4_096) return '0';
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} KB` : `${(bytes / 1e6).toPrecision(3)} MB`;
}
