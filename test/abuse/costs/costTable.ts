import type { TestContext } from 'vitest';
import type { Cost, CostRow } from './costRow.ts';
import { personRows } from './persons.ts';
import { strangerRows } from './strangers.ts';

/** Every request whose cost is measured: `docs/reliability/abuse.md` has its rows from here with the figures of a run. */
export const costRows: readonly CostRow[] = [...strangerRows, ...personRows];

/** What the request of a row has cost. */
export interface Costs {
  readonly request: string;
  readonly cost: Cost;
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

const HEAD = ['caller', 'request', "processor's time", 'memory', 'disk', 'places'];

/** The report's table in Markdown. */
export function costLines(measured: readonly Costs[]): string {
  const rows = costRows.map(({ caller, request, places }) => {
    const cost = measured.find((one) => one.request === request)?.cost;
    return [caller, request, ...(cost === undefined ? ['', '', ''] : cells(cost)), places];
  });
  return [HEAD, HEAD.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function cells({ processorMs, memoryBytes, diskBytes }: Cost): readonly string[] {
  return [`${processorMs.toPrecision(2)} ms`, size(memoryBytes), size(diskBytes)];
}

/** Prints a size; a page of memory or less is what the measuring itself takes. */
function size(bytes: number): string {
  if (bytes < 4_096) return '0';
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} KB` : `${(bytes / 1e6).toPrecision(3)} MB`;
}
