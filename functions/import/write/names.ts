import { claimKey, ownerOf, type PlannedReserve, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordFault } from '../../../shared/organisation/section.ts';
import type { DocumentKey, DocumentStore, StoredDocument, Write } from '../../../shared/store/store.ts';

/** More names than organisations have domains, as a rule; then it is forgotten what was known. */
const MAX_KNOWN = 10_000;

/**
 * Names that belong to the organisation which claims them. All claims of a document are made in a phase before that of
 * the records which may not use them, so a name is looked up once in an import: most user names end in the same few.
 */
export class ReservedNames {
  private readonly store: DocumentStore;
  /** The organisation that has a name, undefined where none has. */
  private readonly known = new Map<string, string | undefined>();

  constructor(store: DocumentStore) {
    this.store = store;
  }

  /**
   * Returns the records that use another organisation's name, each with its fault. One that is there already was there before the
   * name was claimed, and may stay.
   */
  async check(plans: readonly RecordPlan[]): Promise<[RecordPlan, RecordFault][]> {
    const owners = await this.ownersOf(plans.flatMap(({ reserves }) => reserves));
    const outcomes = plans.flatMap((plan): [RecordPlan, RecordFault][] => {
      const isOfOther = (owner: string | undefined) => owner !== undefined && owner !== plan.record.orgId;
      const reserve = plan.reserves.find((one) => isOfOther(owners.get(idOf(one))));
      return reserve === undefined ? [] : [[plan, reserve.reserved]];
    });
    if (outcomes.length === 0) return [];
    const present = await this.store.getMany(
      outcomes.map(([{ key }]) => key),
      ['orgId'],
    );
    return outcomes.filter((_, index) => present[index] === undefined);
  }

  private async ownersOf(reserves: readonly PlannedReserve[]): Promise<ReadonlyMap<string, string | undefined>> {
    const owners = new Map<string, string | undefined>();
    const unknown = new Map<string, PlannedReserve>();
    for (const reserve of reserves) {
      const id = idOf(reserve);
      if (this.known.has(id)) owners.set(id, this.known.get(id));
      else unknown.set(id, reserve);
    }
    if (unknown.size === 0) return owners;
    const keys = [...unknown.values()].map(({ type, name }) => claimKey(type, [name]));
    const claims = await this.store.getMany(keys, ['orgId']);
    for (const [index, id] of [...unknown.keys()].entries()) owners.set(id, claims[index]?.orgId);
    this.remember(owners);
    return owners;
  }

  private remember(owners: ReadonlyMap<string, string | undefined>): void {
    if (this.known.size > MAX_KNOWN) this.known.clear();
    for (const [id, owner] of owners) this.known.set(id, owner);
  }
}

function idOf({ type, name }: PlannedReserve): string {
  return `${type}@${name}`;
}

interface Holder {
  readonly orgId: string;
  readonly ownerId: string;
}

/** Who holds which unique name while a transaction decides, and the writes that make it so. */
export class ClaimLedger {
  private readonly before: ReadonlyMap<string, StoredDocument>;
  private readonly after = new Map<string, { key: DocumentKey; holder: Holder | undefined }>();

  /** @param before the claims that are stored, by `ownerOf` their keys */
  constructor(before: ReadonlyMap<string, StoredDocument>) {
    this.before = before;
  }

  /** Whether anyone but `ownerId` holds the name. */
  isHeldByAnother(key: DocumentKey, ownerId: string): boolean {
    const holder = this.holderOf(key);
    return holder !== undefined && holder !== ownerId;
  }

  take(key: DocumentKey, holder: Holder): void {
    this.after.set(ownerOf(key), { key, holder });
  }

  /** Frees a name, if `ownerId` holds it. */
  release(key: DocumentKey, ownerId: string): void {
    if (this.holderOf(key) === ownerId) this.after.set(ownerOf(key), { key, holder: undefined });
  }

  /** One write at most for each name. */
  writes(): Write[] {
    return [...this.after].flatMap(([name, { key, holder }]): Write[] => {
      const stored = this.before.get(name);
      if (holder === undefined) return stored === undefined ? [] : [{ type: 'delete', key }];
      if (stored === undefined) return [{ type: 'create', key, fields: { ...holder } }];
      return stored.ownerId === holder.ownerId ? [] : [{ type: 'update', key, fields: { ...holder } }];
    });
  }

  private holderOf(key: DocumentKey): string | undefined {
    const name = ownerOf(key);
    const changed = this.after.get(name);
    return changed === undefined ? this.before.get(name)?.ownerId : changed.holder?.ownerId;
  }
}
