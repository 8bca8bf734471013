import { setTimeout } from 'node:timers/promises';
import type { Kind, Outcome } from './kind.ts';
import { type KindResult, Ledger } from './ledger.ts';

/** When the traffic begins and ends, on the clock of `performance.now`. */
export interface Period {
  readonly begin: number;
  readonly end: number;
}

/** How long a kind goes on that has not had all of its answers: on a busy machine, few requests fit into the period. */
const GRACE_MS = 120_000;

/** Sends requests of all kinds at once for a while. Those under way at the end are awaited. */
export async function runTraffic(kinds: readonly Kind[], period: Period): Promise<KindResult[]> {
  const seconds = (period.end - period.begin) / 1_000;
  return Promise.all(
    kinds.map(async (kind) => {
      const ledger = new Ledger(kind);
      const workers = Array.from({ length: kind.workers }, (_, worker) => work(kind, worker, ledger, period));
      await Promise.all(workers);
      return ledger.result(seconds);
    }),
  );
}

async function work(kind: Kind, worker: number, ledger: Ledger, { begin, end }: Period): Promise<void> {
  const { everyMs, pauseMs = 0 } = kind;
  for (let turn = 0; ; turn++) {
    const due = everyMs === undefined ? performance.now() : begin + turn * everyMs + offset(kind, worker, everyMs);
    const start = Math.max(due, performance.now());
    if (start >= end && (ledger.missing.length === 0 || start >= end + GRACE_MS)) return;
    await setTimeout(Math.max(0, due - performance.now()));
    const started = everyMs === undefined ? performance.now() : due;
    const outcome = await attempt(kind);
    if (outcome !== undefined) ledger.add(outcome, performance.now() - started);
    await setTimeout(pauseMs);
  }
}

/** The workers of a kind take turns, unless they are to send at the same moment. */
function offset({ workers, isTogether }: Kind, worker: number, everyMs: number): number {
  return isTogether ? 0 : (worker * everyMs) / workers;
}

async function attempt(kind: Kind): Promise<Outcome | undefined> {
  try {
    return await kind.send();
  } catch (error) {
    return { answer: 'error', problem: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  }
}
