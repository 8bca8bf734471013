import type { PlannedReserve, RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import type { Reader } from '../../../shared/store/store.ts';

/** Bounds the cache, which is cleared when it exceeds this size. Organisations rarely have as many domains. */
const MAX_CACHED_NAMES = 10_000;

/** Owning organisations by name; undefined for a name without owner. */
export type Owners = ReadonlyMap<string, string | undefined>;

/**
 * A cache of the names that organisations reserve. All names are claimed in an earlier phase than the records that must
 * not use them, so each name is looked up once per import. Most user names end in the same few.
 */
export class ReservedNames {
  private readonly reader: Reader;
  private readonly cached = new Map<string, string | undefined>();

  constructor(reader: Reader) {
    this.reader = reader;
  }

  /** Finds the owners of the names that the records must not use. */
  async findOwners(plans: readonly RecordPlan[]): Promise<Owners> {
    const owners = new Map<string, string | undefined>();
    const unknown = new Map<string, PlannedReserve>();
    for (const reserve of plans.flatMap(({ reserves }) => reserves)) {
      const { id } = reserve.key;
      if (this.cached.has(id)) owners.set(id, this.cached.get(id));
      else unknown.set(id, reserve);
    }
    if (unknown.size === 0) return owners;
    const keys = [...unknown.values()].map(({ key }) => key);
    const claims = await this.reader.getMany(keys, ['orgId']);
    for (const [index, id] of [...unknown.keys()].entries()) owners.set(id, claims[index]?.orgId);
    if (this.cached.size > MAX_CACHED_NAMES) this.cached.clear();
    for (const [id, owner] of owners) this.cached.set(id, owner);
    return owners;
  }
}

/**
 * Returns the issue of a record that uses another organisation's name: it must neither be created nor get the name. Records
 * that have the name already are older than the claim, and keep it.
 */
export function reservedIssue({ record, reserves }: RecordPlan, owners: Owners): RecordIssue | undefined {
  return reserves.find(({ key }) => {
    const owner = owners.get(key.id);
    return owner !== undefined && owner !== record.orgId;
  })?.reserved;
}
