import { readOwners } from '../../../shared/accounts/memberships.ts';
import type { AnyReasoned } from '../../../shared/errors/recordIssues.ts';
import { scopeKey } from '../../../shared/organisation/loginNameScope.ts';
import { reportedIssue } from '../../../shared/organisation/relations.ts';
import { domainPolicySection, policyKey } from '../../../shared/organisation/sections/policies.ts';
import { userKey } from '../../../shared/store/documentKeys.ts';
import { type DocumentKey, documentPath, READ_BATCH, type Reader } from '../../../shared/store/store.ts';
import { inTurns } from '../../../shared/turns.ts';
import type { ImportError } from '../contract.ts';
import type { Deletions } from './deletions.ts';
import { describedFields, describeRecord } from './describeRecord.ts';
import type { MirroredFile, MirroredStore, Obstacle } from './findDeletions.ts';

export async function findObstacleErrors(
  store: MirroredStore,
  existing: ReadonlySet<string>,
  { settings: { caller }, signal }: MirroredFile,
  deletions: Deletions,
  obstacles: readonly Obstacle[],
): Promise<readonly ImportError[]> {
  const errors = await referenceErrors(store, obstacles, signal);
  if (caller?.userId !== undefined && deletions.has(documentPath(userKey(caller.userId))))
    errors.push(await userError(store, caller.userId, { reason: 'deletion_of_caller' }));
  for await (const batch of inTurns([...existing], READ_BATCH, signal)) {
    const scopes = await store.getMany(batch.map(scopeKey), ['ownerId']);
    for (const [index, orgId] of batch.entries()) {
      const policy = documentPath(policyKey(orgId, domainPolicySection));
      if (scopes[index]?.ownerId === policy && deletions.has(policy))
        errors.push(keptError(domainPolicySection.error.type, orgId, { reason: 'deletion_of_scope' }));
    }
  }
  return errors;
}

/**
 * Returns an error if the deletions would leave the instance without an active owner.
 * @param written reads the database as it will be after the import, which may suspend the remaining owners
 */
export async function findOwnerErrors(
  store: MirroredStore,
  written: Reader,
  deletions: Deletions,
): Promise<readonly ImportError[]> {
  const isDeleted = ({ userId }: { readonly userId: string }) => deletions.has(documentPath(userKey(userId)));
  const lost = (await readOwners(store, store)).find(isDeleted);
  if (lost === undefined) return [];
  const owners = await readOwners(store, written);
  if (owners.some((owner) => owner.isActive && !isDeleted(owner))) return [];
  return [await userError(store, lost.userId, { reason: 'deletion_of_owner' })];
}

async function referenceErrors(
  store: MirroredStore,
  obstacles: readonly Obstacle[],
  signal: AbortSignal,
): Promise<ImportError[]> {
  const errors: ImportError[] = [];
  for await (const batch of inTurns(obstacles, READ_BATCH, signal)) {
    const targets = await store.getMany(
      batch.map(({ key }) => key),
      describedFields,
    );
    for (const [index, { referring }] of batch.entries()) {
      const target = describeRecord(targets[index]);
      const referrer = describeRecord(referring);
      if (target === undefined || referrer === undefined) continue;
      const params = { referrer: `${referrer.type} ${referrer.id}`, organisation: referrer.orgId };
      errors.push(keptError(target.type, target.id, { reason: 'deletion_referenced', params }));
    }
  }
  return errors;
}

export async function changedErrors(store: Reader, keys: readonly DocumentKey[]): Promise<readonly ImportError[]> {
  const documents = await store.getMany(keys, describedFields);
  return documents.map(describeRecord).flatMap((kept) => {
    return kept === undefined ? [] : [keptError(kept.type, kept.id, { reason: 'deletion_of_changed' })];
  });
}

async function userError(store: MirroredStore, userId: string, issue: AnyReasoned): Promise<ImportError> {
  const [stored] = await store.getMany([userKey(userId)], describedFields);
  return keptError(describeRecord(stored)?.type ?? 'user', userId, issue);
}

function keptError(type: string, id: string, issue: AnyReasoned): ImportError {
  return { type, id, ...reportedIssue({ id: 'IMPORT-mirrorKept', key: 'Errors.Mirror.Kept', ...issue }) };
}
