// In a mirroring import, a record may need a name that still belongs to another record of the file. Such a record waits
// here until the import has written the other record, which gives up the name.

import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { documentPath, MAX_COMMIT_BYTES } from '../../../shared/store/store.ts';
import type { ImportContext } from '../context.ts';
import type { Planned, Settled } from '../stages.ts';

export interface WaitingRecord {
  readonly plan: Planned;
  /** The outcome if the record at the path `holder` never gives up the name. */
  readonly settled: Settled;
  readonly holder: string;
}

/** The maximum number of waiting records, which bounds their memory. */
const MAX_WAITING = 10_000;
/**
 * The maximum number of waiting records in one commit. Each unique name of a record needs up to five writes, so such a
 * commit stays below Firestore's limit.
 */
const MAX_TOGETHER = 50;

export class WaitingRecords {
  private readonly mirror: ImportContext['mirror'];
  private waiting: WaitingRecord[] = [];

  constructor({ mirror }: Pick<ImportContext, 'mirror'>) {
    this.mirror = mirror;
  }

  /**
   * Adds a record if it failed because another record of the file has its name. Returns false for any other record, if
   * the import deletes no records, or if too many records wait.
   */
  add(plan: Planned, settled: Settled): boolean {
    const { outcome } = settled;
    if (this.mirror?.isDeleting !== true || this.waiting.length === MAX_WAITING) return false;
    if (outcome.kind !== 'failed' || outcome.holder === undefined) return false;
    if (!this.mirror.deletions.isInFile(outcome.holder)) return false;
    this.waiting.push({ plan, settled, holder: outcome.holder });
    return true;
  }

  take(): readonly WaitingRecord[] {
    const { waiting } = this;
    this.waiting = [];
    return waiting;
  }
}

/**
 * Orders waiting records so that each record follows the record whose name it needs. If records need each other's
 * names, they are in one group.
 * @returns the groups, in the order in which to write them
 */
export function* inWaitingOrder(
  waiting: readonly WaitingRecord[],
  bytesOf: (plan: RecordPlan) => number,
): Generator<readonly Planned[]> {
  const byPath = new Map(waiting.map((record) => [documentPath(record.plan.key), record]));
  const isVisited = new Set<WaitingRecord>();
  for (const first of waiting) {
    const chain: Planned[] = [];
    for (let next: WaitingRecord | undefined = first; next !== undefined && !isVisited.has(next); ) {
      isVisited.add(next);
      chain.push(next.plan);
      next = byPath.get(next.holder);
    }
    yield* inParts(chain.reverse(), bytesOf);
  }
}

function* inParts(plans: readonly Planned[], bytesOf: (plan: RecordPlan) => number): Generator<readonly Planned[]> {
  let part: Planned[] = [];
  let bytes = 0;
  for (const plan of plans) {
    const size = bytesOf(plan);
    if (part.length === MAX_TOGETHER || (part.length > 0 && bytes + size > MAX_COMMIT_BYTES)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(plan);
    bytes += size;
  }
  if (part.length > 0) yield part;
}
