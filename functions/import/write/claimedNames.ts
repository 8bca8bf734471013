import { parseObject, textAt } from '../../../shared/json/jsonObject.ts';
import { exportedFormIssue } from '../../../shared/organisation/exportedForm.ts';
import { withChanges } from '../../../shared/organisation/normaliseRecord.ts';
import {
  caselessClaimKey,
  type PlannedReserve,
  type RecordPlan,
  recordKey,
} from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import type { FilledField } from '../../../shared/organisation/section.ts';
import type { RecordWarning } from '../../../shared/organisation/warnings.ts';
import {
  type DocumentKey,
  type DocumentStore,
  documentId,
  documentPath,
  readByPath,
} from '../../../shared/store/store.ts';

/** A record without a field that the store may determine. */
interface Incomplete<Plan extends RecordPlan> {
  readonly plan: Plan;
  readonly fills: FilledField;
}

/** Takes what becomes of a record whose field is filled: a warning, or the issue of one that must not be written so. */
interface FillListener {
  readonly warn: (plan: RecordPlan, warning: RecordWarning) => void;
  readonly reject: (plan: RecordPlan, issue: RecordIssue) => void;
}

/**
 * Fills the fields that records may omit because the store determines them, as ZITADEL does, and unsets those that it
 * makes needless.
 * @param listener receives those of the returned plans that are changed
 * @returns all plans in their order, each with the one to write
 */
export async function fillFields<Plan extends RecordPlan>(
  store: DocumentStore,
  plans: readonly Plan[],
  listener: FillListener,
): Promise<ReadonlyMap<Plan, RecordPlan>> {
  const filled = new Map<Plan, RecordPlan>(plans.map((plan) => [plan, plan]));
  for (const [plan, complete] of await unsetFields(store, plans, listener.warn)) filled.set(plan, complete);
  const incomplete = plans.flatMap(findIncomplete);
  if (incomplete.length === 0) return filled;
  for (const [{ plan, fills }, id] of await findClaimants(store, incomplete)) {
    const record = withChanges(plan.record, new Map([[fills.field, id]]));
    const complete = { ...plan, record, key: recordKey(record) };
    const issue = exportedFormIssue(record);
    const message = `${fills.field} is absent: imported with ${id}`;
    if (issue === undefined) listener.warn(complete, { reason: 'field_filled', message });
    else listener.reject(complete, issue);
    filled.set(plan, complete);
  }
  return filled;
}

/**
 * Unsets the fields whose records are missing, where another record that they name is the organisation's own: a project has
 * no grant to its own organisation.
 * @returns the plans whose field is unset, each with the one to write
 */
async function unsetFields<Plan extends RecordPlan>(
  store: DocumentStore,
  plans: readonly Plan[],
  warn: FillListener['warn'],
): Promise<ReadonlyMap<Plan, RecordPlan>> {
  const result = new Map<Plan, RecordPlan>();
  const named = plans.flatMap((plan) => {
    const { section, json, orgId } = plan.record;
    const { fills } = section;
    const id = fills === undefined ? '' : textAt(json, fills.field, orgId);
    if (fills === undefined || id === '') return [];
    const { collection, id: path } = fills.unsetBesideOwn;
    const beside: DocumentKey = { collection, id: documentId(textAt(json, path, orgId)) };
    return [{ plan, fills, id, beside, target: { collection: fills.from.collection, id: documentId(id) } }];
  });
  if (named.length === 0) return result;
  const found = await readByPath(
    store,
    named.flatMap(({ beside, target }) => [beside, target]),
    ['orgId'],
  );
  for (const { plan, fills, id, beside, target } of named) {
    const isOwn = found.get(documentPath(beside))?.orgId === plan.record.orgId;
    if (!isOwn || found.get(documentPath(target)) !== undefined) continue;
    const record = withChanges(plan.record, new Map([[fills.field, undefined]]));
    const complete = { ...plan, record, key: recordKey(record) };
    const message = `${fills.field} ${id} is unknown, and the organisation's own project needs none: imported without it`;
    warn(complete, { reason: 'field_unset', message });
    result.set(plan, complete);
  }
  return result;
}

function findIncomplete<Plan extends RecordPlan>(plan: Plan): Incomplete<Plan>[] {
  const { section, json, orgId } = plan.record;
  const { fills } = section;
  return fills === undefined || textAt(json, fills.field, orgId) !== '' ? [] : [{ plan, fills }];
}

/** Finds the ids of the records that have claimed the names of incomplete ones. */
async function findClaimants<Item extends Incomplete<RecordPlan>>(
  store: DocumentStore,
  incomplete: readonly Item[],
): Promise<(readonly [Item, id: string])[]> {
  const claims = incomplete.map(({ plan: { record }, fills: { claim } }) =>
    caselessClaimKey(
      claim.type,
      claim.parts.map((part) => textAt(record.json, part, record.orgId)),
    ),
  );
  const owners = await readByPath(store, claims, ['ownerId']);
  const keys = incomplete.map(({ fills: { from } }, index) => {
    const path = owners.get(documentPath(claims[index] ?? NOWHERE))?.ownerId ?? '';
    return { collection: from.collection, id: path.slice(from.collection.length + 1) };
  });
  const bodies = await readByPath(
    store,
    keys.filter(({ id }) => id !== ''),
    ['body'],
  );
  return incomplete.flatMap((one, index) => {
    const body = bodies.get(documentPath(keys[index] ?? NOWHERE))?.body;
    return body === undefined ? [] : [[one, textAt(parseObject(body), one.fills.from.id, '')] as const];
  });
}

const NOWHERE: DocumentKey = { collection: 'claims', id: '' };

/** Bounds the cache, which is cleared when it exceeds this size. Organisations rarely have as many domains. */
const MAX_CACHED = 10_000;

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
   * Returns the records that use another organisation's name, each with its issue. It forbids to create them, and to
   * give them the name; records that have it already are older than the claim, and keep it.
   */
  async check(plans: readonly RecordPlan[]): Promise<[RecordPlan, RecordIssue][]> {
    const owners = await this.findOwners(plans.flatMap(({ reserves }) => reserves));
    return plans.flatMap((plan): [RecordPlan, RecordIssue][] => {
      const isForeign = (owner: string | undefined) => owner !== undefined && owner !== plan.record.orgId;
      const reserve = plan.reserves.find((planned) => isForeign(owners.get(reserveId(planned))));
      return reserve === undefined ? [] : [[plan, reserve.reserved]];
    });
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
    if (this.cached.size > MAX_CACHED) this.cached.clear();
    for (const [id, owner] of owners) this.cached.set(id, owner);
  }
}

function reserveId({ key }: PlannedReserve): string {
  return key.id;
}
