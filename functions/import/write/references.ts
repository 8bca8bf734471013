import { isJsonObject } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import {
  claimKey,
  documentPath,
  type PlannedReference,
  type PlannedReserve,
  planReferences,
  type RecordPlan,
} from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/section.ts';
import type { DocumentStore, StoredDocument } from '../../../shared/store/store.ts';

/** Why a record is not written: a issue, or that it belongs to a record which is imported elsewhere. */
export type Objection = RecordIssue | 'notCarried';

type Found = ReadonlyMap<string, StoredDocument | undefined>;

/**
 * Finds the records whose references are missing, foreign or invalid; one read for all of them, whatever their number.
 */
export async function checkReferences(
  store: DocumentStore,
  plans: readonly RecordPlan[],
): Promise<[RecordPlan, Objection][]> {
  const planned = plans.map((plan) => ({ plan, references: planReferences(plan.record) }));
  const references = planned.flatMap((one) => one.references);
  const isLookedInto = ({ reference }: PlannedReference) => reference.check !== undefined;
  // A body may be large: only those that are looked into are read.
  const [there, whole] = await Promise.all([
    read(
      store,
      references.filter((one) => !isLookedInto(one)),
      ['orgId'],
    ),
    read(store, references.filter(isLookedInto), ['orgId', 'body']),
  ]);
  const found: Found = new Map([...there, ...whole]);
  return planned.flatMap(({ plan, references: some }): [RecordPlan, Objection][] => {
    const objection = findFirst(some, (one) => check(one, found, plan.record));
    return objection === undefined ? [] : [[plan, objection]];
  });
}

async function read(
  store: DocumentStore,
  wanted: readonly PlannedReference[],
  fields: readonly ('orgId' | 'body')[],
): Promise<Map<string, StoredDocument | undefined>> {
  const keys = new Map(wanted.map(({ key }) => [documentPath(key), key] as const));
  if (keys.size === 0) return new Map();
  const documents = await store.getMany([...keys.values()], fields);
  return new Map([...keys.keys()].map((name, index) => [name, documents[index]] as const));
}

function check({ reference, key }: PlannedReference, found: Found, record: OrganisationRecord): Objection | undefined {
  const target = found.get(documentPath(key));
  if (target === undefined) return reference.missing;
  const isOwn = target.orgId === record.orgId;
  if (!isOwn && reference.ifForeign === 'notCarried') return 'notCarried';
  const issue = isOwn ? reference.ifOwn : reference.ifForeign;
  if (typeof issue === 'object') return issue;
  const body: unknown = reference.check === undefined ? undefined : JSON.parse(target.body ?? 'null');
  return isJsonObject(body) ? reference.check?.(body, record.json, record.orgId) : undefined;
}

function findFirst<One, Result>(some: readonly One[], work: (one: One) => Result | undefined): Result | undefined {
  for (const one of some) {
    const result = work(one);
    if (result !== undefined) return result;
  }
  return undefined;
}

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
   * Returns the records that use another organisation's name, each with its issue. One that is there already was there before the
   * name was claimed, and may stay.
   */
  async check(plans: readonly RecordPlan[]): Promise<[RecordPlan, RecordIssue][]> {
    const owners = await this.findOwners(plans.flatMap(({ reserves }) => reserves));
    const outcomes = plans.flatMap((plan): [RecordPlan, RecordIssue][] => {
      const isOfOther = (owner: string | undefined) => owner !== undefined && owner !== plan.record.orgId;
      const reserve = plan.reserves.find((one) => isOfOther(owners.get(reserveId(one))));
      return reserve === undefined ? [] : [[plan, reserve.reserved]];
    });
    if (outcomes.length === 0) return [];
    const present = await this.store.getMany(
      outcomes.map(([{ key }]) => key),
      ['orgId'],
    );
    return outcomes.filter((_, index) => present[index] === undefined);
  }

  private async findOwners(reserves: readonly PlannedReserve[]): Promise<ReadonlyMap<string, string | undefined>> {
    const owners = new Map<string, string | undefined>();
    const unknown = new Map<string, PlannedReserve>();
    for (const reserve of reserves) {
      const id = reserveId(reserve);
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

function reserveId({ type, name }: PlannedReserve): string {
  return `${type}@${name}`;
}
