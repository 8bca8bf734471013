import { type DocumentKey, documentId, documentPath, type Reader, type Write } from '../store/store.ts';
import { organisationSection } from './allSections.ts';
import { claimKey } from './claimKeys.ts';
import { LOGIN_NAME_SCOPE } from './sections/policies.ts';

/*
 * For each organisation, one claim decides permanently whether the organisation's login names contain its domain. If
 * the organisation's domain policy differs from the instance's default, the commit that writes the policy also creates
 * the claim, for the policy. Otherwise, the first import or command that creates users creates the claim for the
 * organisation itself. Both claims have the same key, so policies and users cannot contradict each other, in any order
 * of commits. The claims of user names therefore never have to move from one scope to the other.
 */

/**
 * Reads for each organisation whether its login names contain its domain. If so, a login name must be unique in the
 * organisation; otherwise in the instance.
 * @param byDefault whether login names contain the domain if an organisation has no domain policy
 * @returns true or false for each organisation, in the order of `orgIds`; undefined for an organisation for which the
 *   database has not recorded this yet
 */
export async function readLoginNameScopes(
  reader: Reader,
  orgIds: readonly string[],
  byDefault: boolean,
): Promise<(boolean | undefined)[]> {
  const claims = await reader.getMany(orgIds.map(scopeKey), ['ownerId']);
  return orgIds.map((orgId, index) => {
    const claim = claims[index];
    if (claim === undefined) return undefined;
    return claim.ownerId === organisationPath(orgId) ? byDefault : !byDefault;
  });
}

/**
 * Returns the write that creates a claim, which makes the instance's present default for login names permanent for an
 * organisation.
 */
export function defaultScopeWrite(orgId: string): Write {
  return { type: 'create', key: scopeKey(orgId), fields: { orgId, ownerId: organisationPath(orgId) } };
}

export function scopeKey(orgId: string): DocumentKey {
  return claimKey(LOGIN_NAME_SCOPE, [], [orgId]);
}

function organisationPath(orgId: string): string {
  return documentPath({ collection: organisationSection.collection, id: documentId(orgId) });
}
