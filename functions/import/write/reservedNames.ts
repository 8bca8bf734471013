import type { PlannedReserve } from '../../../shared/organisation/recordPlan.ts';
import type { DocumentStore } from '../../../shared/store/store.ts';
import type { IncomingRecord } from '../incomingRecord.ts';

/** Bounds the cache, which is cleared when it exceeds this size. Organisations rarely have as many domains. */
const MAX_CACHED_NAMES = 10_000;

/**
 * A cache of the names that organisations reserve. All names are claimed in an earlier phase than the records that must
 * not use them, so each name is looked up once per import. Most user names end in the same few.
 */
export class ReservedNames {
  private readonly store: DocumentStore;
  /** Owning organisations by name; undefined for a name without owner. */
  private readonly cached = new Map<string, string | undefined>();

  constructor(store: DocumentStore) {
    this.store = store;
  }

  /**
   * Finds the records that use another organisation's name. It forbids to create them, and to give them the name; records
   * that have it already are older than the claim, and keep it.
   */
  async check(records: readonly IncomingRecord[]): Promise<void> {
    const owners = await this.findOwners(records.flatMap(({ plan }) => plan.reserves));
    for (const record of records) {
      const { orgId } = record.plan.record;
      const isForeign = (owner: string | undefined) => owner !== undefined && owner !== orgId;
      record.reserved = record.plan.reserves.find((planned) => isForeign(owners.get(reserveId(planned))))?.reserved;
    }
  }

  private async findOwners(reserves: readonly PlannedReserve[]): Promise<ReadonlyMap<string, string | undefined>> {
    const owners = new Map<string, string | undefined>();
    const unknown = new Map<string, PlannedReserve>();
    for (const reserve of reserves) {
      const id = reserveId(reserve);
      if (this.cached.has(id)) owners.set(id, this.cached.get(id));
      else unknown.set(id, reserve);
    }
    if (unknown.size === 0) return owners;
    const keys = [...unknown.values()].map(({ key }) => key);
    const claims = await this.store.getMany(keys, ['orgId']);
    for (const [index, id] of [...unknown.keys()].entries()) owners.set(id, claims[index]?.orgId);
    this.cache(owners);
    return owners;
  }

  private cache(owners: ReadonlyMap<string, string | undefined>): void {
    if (this.cached.size > MAX_CACHED_NAMES) this.cached.clear();
    for (const [id, owner] of owners) this.cached.set(id, owner);
  }
}

function reserveId({ key }: PlannedReserve): string {
  return key.id;
}
