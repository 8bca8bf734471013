import { isJsonObject } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import {
  ownerOf,
  type PlannedReference,
  type RecordPlan,
  referencesOf,
} from '../../../shared/organisation/recordPlan.ts';
import type { RecordFault } from '../../../shared/organisation/section.ts';
import type { DocumentStore, StoredDocument } from '../../../shared/store/store.ts';
import type { Outcome } from './batchContext.ts';

type Found = ReadonlyMap<string, StoredDocument | undefined>;

/**
 * The outcomes of those records that refer to something which is not there, not theirs or not as it must be; one read for
 * all of them, whatever their number.
 */
export async function checkReferences(
  store: DocumentStore,
  plans: readonly RecordPlan[],
): Promise<[RecordPlan, Outcome][]> {
  const planned = plans.map((plan) => ({ plan, references: referencesOf(plan.record) }));
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
  return planned.flatMap(({ plan, references: some }): [RecordPlan, Outcome][] => {
    const outcome = firstOf(some, (one) => check(one, found, plan.record));
    return outcome === undefined ? [] : [[plan, outcome]];
  });
}

async function read(
  store: DocumentStore,
  wanted: readonly PlannedReference[],
  fields: readonly ('orgId' | 'body')[],
): Promise<Map<string, StoredDocument | undefined>> {
  const keys = new Map(wanted.map(({ key }) => [ownerOf(key), key] as const));
  if (keys.size === 0) return new Map();
  const documents = await store.getMany([...keys.values()], fields);
  return new Map([...keys.keys()].map((name, index) => [name, documents[index]] as const));
}

function check({ reference, key }: PlannedReference, found: Found, record: OrganisationRecord): Outcome | undefined {
  const target = found.get(ownerOf(key));
  if (target === undefined) return failed(reference.missing);
  const isOwn = target.orgId === record.orgId;
  if (!isOwn && reference.ofOther === 'notCarried') return { kind: 'notCarried' };
  const fault = isOwn ? reference.ofOwn : reference.ofOther;
  if (typeof fault === 'object') return failed(fault);
  const body: unknown = reference.check === undefined ? undefined : JSON.parse(target.body ?? 'null');
  const within = isJsonObject(body) ? reference.check?.(body, record.json, record.orgId) : undefined;
  return within === undefined ? undefined : failed(within);
}

function failed(fault: RecordFault): Outcome {
  return { kind: 'failed', fault };
}

function firstOf<One, Result>(some: readonly One[], work: (one: One) => Result | undefined): Result | undefined {
  for (const one of some) {
    const result = work(one);
    if (result !== undefined) return result;
  }
  return undefined;
}
