import { hash } from 'node:crypto';

/** One task's share of an import that several processes divide among them. */
export interface ImportShare {
  /** The task, from 0. */
  readonly index: number;
  /** The number of tasks. */
  readonly count: number;
  /** What the tasks of one start have in common, and no other start has. */
  readonly execution: string;
  /** Milliseconds without any sign of another task after which it counts as missing. */
  readonly patienceMs: number;
}

/** Whether an organisation is one of a task's share. The assignment depends on its id and the number of tasks only. */
export function isInShare({ index, count }: Pick<ImportShare, 'index' | 'count'>, orgId: string): boolean {
  return Number.parseInt(hash('sha256', orgId).slice(0, 8), 16) % count === index;
}
