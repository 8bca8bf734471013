import { planRecord, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { claimsLoginNames } from '../../../shared/organisation/sections.ts';
import { type DocumentKey, documentPath, type StoredDocument, type Transaction } from '../../../shared/store/store.ts';

/*
 * Until `identity upgrade` has finished, users of an organisation may hold their names by claims in the other scope than
 * the organisation's (`shared/store/migrations/loginNames.ts`). Such a claim counts as that of the name.
 */

/** Whether a record's name may be held by a claim of the older form. */
export function mayHaveOlderClaim({ record }: RecordPlan): boolean {
  return claimsLoginNames(record.section);
}

/** A name's claim, and the claim that may hold the name in the older form. */
interface OlderClaim {
  readonly orgId: string;
  readonly key: DocumentKey;
  readonly older: DocumentKey;
}

/**
 * Reads the claims that hold the records' names in the older form. They must not change before the commit.
 * @returns the claims by the paths of the names' claims; and all that were found, by their own paths
 */
export async function readOlderClaims(transaction: Transaction, plans: readonly RecordPlan[]) {
  const claims = plans.filter(mayHaveOlderClaim).flatMap(planOlderClaims);
  const keys = [...new Map(claims.map(({ older }) => [documentPath(older), older])).values()];
  const documents = await transaction.getMany(keys, ['orgId', 'ownerId']);
  transaction.hold(keys);
  const found = new Map<string, StoredDocument>();
  for (const [index, key] of keys.entries()) {
    const document = documents[index];
    if (document !== undefined) found.set(documentPath(key), document);
  }
  const holders = new Map<string, StoredDocument>();
  for (const { orgId, key, older } of claims) {
    const holder = found.get(documentPath(older));
    // A claim in the instance's scope may be that of another organisation, whose names are none of this one's.
    if (holder?.orgId === orgId) holders.set(documentPath(key), holder);
  }
  return { found, holders };
}

function planOlderClaims({ record, claims }: RecordPlan): OlderClaim[] {
  const own = new Set(claims.map(({ key }) => documentPath(key)));
  const others = [true, false].flatMap((byDomain) => planRecord(record, byDomain).claims);
  const older = others.filter(({ key }) => !own.has(documentPath(key)));
  return claims.flatMap(({ key }, index) => {
    const claim = older[index];
    return claim === undefined ? [] : [{ orgId: record.orgId, key, older: claim.key }];
  });
}
