import { textAt } from '../../shared/contract/jsonRecord.ts';
import type { OrganisationRecord } from '../../shared/contract/record.ts';
import { ownerOf, type RecordPlan } from '../../shared/contract/recordPlan.ts';
import type { Reference } from '../../shared/contract/section.ts';
import { documentId } from '../../shared/store/documentId.ts';
import type { DocumentKey, DocumentStore, StoredDocument } from '../../shared/store/store.ts';
import type { Outcome } from './outcome.ts';

interface PlannedReference {
  readonly reference: Reference;
  readonly key: DocumentKey;
}

/** The outcomes of those records that refer to something which is not there, or not theirs; one read for all of them. */
export async function checkReferences(
  store: DocumentStore,
  plans: readonly RecordPlan[],
): Promise<[RecordPlan, Outcome][]> {
  const planned = plans.map((plan) => ({ plan, references: referencesOf(plan.record) }));
  const keys = new Map(planned.flatMap(({ references }) => references.map(({ key }) => [ownerOf(key), key] as const)));
  if (keys.size === 0) return [];
  const documents = await store.getMany([...keys.values()], ['orgId']);
  const found = new Map([...keys.keys()].map((name, index) => [name, documents[index]] as const));
  return planned.flatMap(({ plan, references }) => {
    const outcome = references
      .map((planned) => check(planned, found, plan.record.orgId))
      .find((fault) => fault !== undefined);
    return outcome === undefined ? [] : [[plan, outcome] as [RecordPlan, Outcome]];
  });
}

function referencesOf({ section, json, orgId }: OrganisationRecord): PlannedReference[] {
  return (section.references ?? []).flatMap((reference) => {
    const parts = reference.key.map((path) => textAt(json, path, orgId));
    if (reference.optional === true && parts.at(-1) === '') return [];
    return [{ reference, key: { collection: reference.collection, id: documentId(...parts) } }];
  });
}

function check(
  { reference, key }: PlannedReference,
  found: ReadonlyMap<string, StoredDocument | undefined>,
  orgId: string,
): Outcome | undefined {
  const target = found.get(ownerOf(key));
  if (target === undefined) return { kind: 'failed', fault: reference.missing };
  return reference.ofOther === 'notCarried' && target.orgId !== orgId ? { kind: 'notCarried' } : undefined;
}
