import { parseObject, textAt } from '../../../shared/json/jsonObject.ts';
import { caselessClaimKey } from '../../../shared/organisation/claimKeys.ts';
import { type RecordPlan, recordKey } from '../../../shared/organisation/recordPlan.ts';
import type { FilledField } from '../../../shared/organisation/relations.ts';
import { withChanges } from '../../../shared/organisation/settleRecord.ts';
import { type DocumentKey, type DocumentStore, documentPath, readByPath } from '../../../shared/store/store.ts';

/** A record without a field that the store may determine. */
interface Incomplete {
  readonly plan: RecordPlan;
  readonly fills: FilledField;
}

/**
 * Fills the fields that records may omit because the store determines them, as ZITADEL does.
 * @param onFilled receives a warning for each of the returned plans that is filled
 * @returns all plans in their order
 */
export async function fillFields(
  store: DocumentStore,
  plans: readonly RecordPlan[],
  onFilled: (plan: RecordPlan, warning: string) => void,
): Promise<readonly RecordPlan[]> {
  const incomplete = plans.flatMap(findIncomplete);
  if (incomplete.length === 0) return plans;
  const ids = await findClaimants(store, incomplete);
  return plans.map((plan) => {
    const { fills } = plan.record.section;
    const id = ids.get(plan);
    if (fills === undefined || id === undefined) return plan;
    const record = withChanges(plan.record, new Map([[fills.field, id]]));
    const filled = { ...plan, record, key: recordKey(record) };
    onFilled(filled, `${fills.field} is absent: imported with ${id}`);
    return filled;
  });
}

function findIncomplete(plan: RecordPlan): Incomplete[] {
  const { section, json, orgId } = plan.record;
  const { fills } = section;
  return fills === undefined || textAt(json, fills.field, orgId) !== '' ? [] : [{ plan, fills }];
}

/** Finds the ids of the records that have claimed the names of incomplete ones. */
async function findClaimants(
  store: DocumentStore,
  incomplete: readonly Incomplete[],
): Promise<ReadonlyMap<RecordPlan, string>> {
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
  return new Map(
    incomplete.flatMap(({ plan, fills: { from } }, index) => {
      const body = bodies.get(documentPath(keys[index] ?? NOWHERE))?.body;
      return body === undefined ? [] : [[plan, textAt(parseObject(body), from.id, '')] as const];
    }),
  );
}

const NOWHERE: DocumentKey = { collection: 'claims', id: '' };
