import type { PlannedClaim, RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { type DocumentKey, documentPath, type StoredDocument, type Write } from '../../../shared/store/store.ts';

interface Holder {
  readonly orgId: string;
  readonly ownerId: string;
}

/** A record to write, with the claims that it may hold already. */
export interface Claimant {
  readonly plan: RecordPlan;
  readonly held: readonly DocumentKey[];
}

/** The holders of unique names during a transaction, and the writes that apply their changes. */
export class ClaimLedger {
  private readonly before: ReadonlyMap<string, StoredDocument>;
  private readonly after = new Map<string, { key: DocumentKey; holder: Holder | undefined }>();

  /** @param before the stored claims, by `documentPath` */
  constructor(before: ReadonlyMap<string, StoredDocument>) {
    this.before = before;
  }

  /**
   * Assigns names to records, whatever their order: a name that one of them gives up is free for another, also where they
   * swap. Of several records that want a name, the first gets it that can.
   * @param claimants different records
   * @returns the records that get no name, each with the claim that is in the way
   */
  assign<Item extends Claimant>(claimants: readonly Item[]): Map<Item, PlannedClaim> {
    const pending = new Map(claimants.map((claimant) => [ownerPath(claimant), claimant]));
    let size: number;
    do {
      size = pending.size;
      for (const claimant of pending.values()) {
        for (const mover of this.findMovers(claimant, pending)) {
          this.apply(mover);
          pending.delete(ownerPath(mover));
        }
      }
    } while (pending.size < size);
    return new Map(
      [...pending.values()].flatMap((claimant) => {
        const { claims } = claimant.plan;
        const obstacle = claims.find((claim) => this.findOther(claim, claimant) !== undefined) ?? claims[0];
        return obstacle === undefined ? [] : [[claimant, obstacle] as const];
      }),
    );
  }

  /** Returns the writes that apply the changes, at most one per name. */
  writes(): Write[] {
    return [...this.after].flatMap(([name, { key, holder }]): Write[] => {
      const stored = this.before.get(name);
      if (holder === undefined) return stored === undefined ? [] : [{ type: 'delete', key }];
      if (stored === undefined) return [{ type: 'create', key, fields: { ...holder } }];
      return stored.ownerId === holder.ownerId ? [] : [{ type: 'update', key, fields: { ...holder } }];
    });
  }

  /** Returns a record and the pending ones that must give up names for it; none if one of them cannot move. */
  private findMovers<Item extends Claimant>(first: Item, pending: ReadonlyMap<string, Item>): Iterable<Item> {
    const movers = new Set([first]);
    const wanted = new Set<string>();
    // A set's iteration includes the elements that are added meanwhile.
    for (const mover of movers) {
      for (const claim of mover.plan.claims) {
        const name = documentPath(claim.key);
        if (wanted.has(name)) return [];
        wanted.add(name);
        const other = this.findOther(claim, mover);
        if (other === undefined) continue;
        const holder = pending.get(other);
        if (holder === undefined || !givesUp(holder, name)) return [];
        movers.add(holder);
      }
    }
    return movers;
  }

  /** Finds the record that holds a name, unless it is the claimant itself. */
  private findOther({ key }: PlannedClaim, claimant: Claimant): string | undefined {
    const holder = this.findHolder(documentPath(key));
    return holder === ownerPath(claimant) ? undefined : holder;
  }

  /** Releases the names that the record holds, and takes those that it wants. */
  private apply({ plan, held }: Claimant): void {
    const holder = { orgId: plan.record.orgId, ownerId: documentPath(plan.key) };
    for (const key of held) {
      const name = documentPath(key);
      if (this.findHolder(name) === holder.ownerId) this.after.set(name, { key, holder: undefined });
    }
    for (const { key } of plan.claims) this.after.set(documentPath(key), { key, holder });
  }

  private findHolder(name: string): string | undefined {
    const changed = this.after.get(name);
    if (changed !== undefined) return changed.holder?.ownerId;
    return this.before.get(name)?.ownerId;
  }
}

function ownerPath({ plan }: Claimant): string {
  return documentPath(plan.key);
}

function givesUp({ plan, held }: Claimant, name: string): boolean {
  const has = (keys: readonly DocumentKey[]) => keys.some((key) => documentPath(key) === name);
  return has(held) && !has(plan.claims.map(({ key }) => key));
}
