import { type DocumentKey, documentId, documentPath, type Reader, type Write } from '../store/store.ts';
import { claimKey } from './recordPlan.ts';
import { LOGIN_NAME_SCOPE } from './sections/policies.ts';
import { organisationSection } from './sections.ts';

/** The scope within which an organisation's login names are unique; undefined while neither users nor policy need one. */
export type LoginNameScope = 'instance' | 'organisation' | undefined;

/*
 * One claim for each organisation settles its scope, once and for all. A domain policy that makes login names carry the
 * domain claims it together with its own document; whoever first creates users without such a policy claims it for the
 * organisation itself. So policies and users cannot miss each other, whatever the order of their commits, and no user's
 * claims ever have to move from one scope to the other.
 */

/**
 * Reads the scopes of organisations.
 * @returns the scopes in the order of `orgIds`
 */
export async function readScopes(reader: Reader, orgIds: readonly string[]): Promise<LoginNameScope[]> {
  const claims = await reader.getMany(orgIds.map(scopeKey), ['ownerId']);
  return orgIds.map((orgId, index) => {
    const claim = claims[index];
    if (claim === undefined) return undefined;
    return claim.ownerId === organisationPath(orgId) ? 'instance' : 'organisation';
  });
}

/** Creates the write that settles an organisation's login names on the scope of the instance. */
export function instanceScopeWrite(orgId: string): Write {
  return { type: 'create', key: scopeKey(orgId), fields: { orgId, ownerId: organisationPath(orgId) } };
}

/** Returns the key of the claim that settles an organisation's scope. */
export function scopeKey(orgId: string): DocumentKey {
  return claimKey(LOGIN_NAME_SCOPE, [], [orgId]);
}

function organisationPath(orgId: string): string {
  return documentPath({ collection: organisationSection.collection, id: documentId(orgId) });
}
