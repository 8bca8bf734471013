import { type DocumentKey, documentPath, type StoredDocument, type Transaction } from '../store/store.ts';
import { claimForms } from './claimKeys.ts';
import type { RecordPlan } from './recordPlan.ts';

/*
 * Until a database has the present format, a name may be held by a claim of an older form (`shared/store/migrations/`):
 * before format 3 in the other scope than the organisation's, before format 4 under the name in lower case. Such a claim
 * counts as that of the name.
 */

/** Whether a record's names may be held by claims of an older form. */
export function mayHaveOlderClaim({ record }: RecordPlan): boolean {
  return claimForms(record).some(({ length }) => length > 1);
}

/** A name's claim, and a claim that may hold the name in an older form. */
interface OlderClaim {
  readonly orgId: string;
  readonly key: DocumentKey;
  readonly older: DocumentKey;
  /** Whether the older claim is in another scope. */
  readonly isElsewhere: boolean;
}

/**
 * Reads the claims that hold the records' names in an older form. They must not change before the commit.
 * @returns the claims by the paths of the names' claims; and all that were found, by their own paths
 */
export async function readOlderClaims(transaction: Transaction, plans: readonly RecordPlan[]) {
  const claims = plans.flatMap(planOlderClaims);
  const keys = [...new Map(claims.map(({ older }) => [documentPath(older), older])).values()];
  const documents = await transaction.getMany(keys, ['orgId', 'ownerId']);
  transaction.hold(keys);
  const found = new Map<string, StoredDocument>();
  for (const [index, key] of keys.entries()) {
    const document = documents[index];
    if (document !== undefined) found.set(documentPath(key), document);
  }
  const holders = new Map<string, StoredDocument>();
  for (const { orgId, key, older, isElsewhere } of claims) {
    const holder = found.get(documentPath(older));
    // A claim in the instance's scope may be that of another organisation, whose names are none of this one's.
    const isOfScope = holder !== undefined && (!isElsewhere || holder.orgId === orgId);
    if (isOfScope && !holders.has(documentPath(key))) holders.set(documentPath(key), holder);
  }
  return { found, holders };
}

/** Lists the older claims of a record's names, those of their own scope first. */
function planOlderClaims({ record, claims }: RecordPlan): OlderClaim[] {
  const forms = claimForms(record);
  return claims.flatMap(({ key }, index) => {
    const all = forms[index] ?? [];
    const byDomain = all.find((form) => form.key.id === key.id)?.byDomain;
    return all
      .filter((form) => form.key.id !== key.id)
      .map((form) => ({
        orgId: record.orgId,
        key,
        older: form.key,
        isElsewhere: form.byDomain !== byDomain,
      }))
      .sort((a, b) => Number(a.isElsewhere) - Number(b.isElsewhere));
  });
}
