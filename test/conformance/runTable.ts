import { asOwner } from './owner.ts';
import { poll } from './poll.ts';
import type { Result } from './report.ts';
import type { Row } from './row.ts';
import { type Outcome, reason, runRow, type Target } from './runRow.ts';

/** How a table is run. */
export interface TableOptions {
  /** How long a server that lost a connection may take to answer again. */
  readonly restartMs: number;
  /** Told of each row that was run. */
  readonly onResult: (result: Result) => void;
}

/** The results of all rows, and why the last of them were not run, if so. */
export interface TableResults {
  readonly results: readonly Result[];
  readonly halted?: string | undefined;
}

/**
 * Runs the rows one after the other. Where a server dies, that row fails, and the next one waits until it answers again;
 * if it does not, or the target's signal aborts, the other rows count as not run.
 */
export async function runTable(
  rows: readonly Row[],
  target: Target,
  { restartMs, onResult }: TableOptions,
): Promise<TableResults> {
  const results: Result[] = [];
  for (const row of rows) {
    const outcome = await safely(row, target);
    const result = { row, outcome };
    results.push(result);
    onResult(result);
    const halted = await obstacle(outcome, target, restartMs);
    if (halted !== undefined) return { results: [...results, ...notRun(rows.slice(results.length), halted)], halted };
  }
  return { results };
}

/** The results of rows that cannot be run. */
export function notRun(rows: readonly Row[], why: string): Result[] {
  return rows.map((row) => ({ row, outcome: { kind: 'not run', why } }));
}

/** A fault of the suite itself fails the row, and the rest is still run. */
async function safely(row: Row, target: Target): Promise<Outcome> {
  try {
    return await runRow(row, target);
  } catch (error) {
    return { kind: 'failed', differences: [`the suite failed: ${reason(error)}`] };
  }
}

async function obstacle({ kind }: Outcome, target: Target, restartMs: number): Promise<string | undefined> {
  const isBack = kind !== 'lost' || (await answersWithin(restartMs, target));
  if (target.signal?.aborted === true) return 'the run was interrupted';
  return isBack ? undefined : `the server did not answer again within ${restartMs / 1000} s`;
}

/** Whether the server handles requests again. A ZITADEL that starts answers 503 first. */
async function answersWithin(limitMs: number, { baseUrl, tokens, signal }: Target): Promise<boolean> {
  const ask = asOwner(baseUrl, tokens.owner, { signal, timeoutMs: limitMs });
  const request = { method: 'POST', path: '/admin/v1/export', body: { orgIds: ['none'], responseOutput: true } };
  const answers = async () => {
    try {
      return (await ask(request)).status < 500;
    } catch {
      return false; // It does not accept connections yet.
    }
  };
  return poll(answers, Boolean, { limitMs, signal });
}
