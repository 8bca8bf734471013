// Grants of users: their roles in projects.

import { userGrantUnknown } from '../errors/commandErrors.ts';
import { parseObject, textAt, textsAt } from '../json/jsonObject.ts';
import { sectionPartition, sectionPartitions } from '../organisation/section.ts';
import { userGrantSection } from '../organisation/sections/grants.ts';
import { scanInPasses } from '../store/passes.ts';
import type { DocumentKey, Store } from '../store/store.ts';
import { deleteWithClaims, forgetImports, readDependents } from './dependents.ts';
import { requireOrganisation, requireUser } from './userAccounts.ts';

/** A grant of a user. */
export interface UserGrant {
  readonly userId: string;
  /** The organisation that gives the grant. */
  readonly orgId: string;
  readonly projectId: string;
  readonly roles: readonly string[];
}

interface StoredGrant extends UserGrant {
  readonly key: DocumentKey;
}

/** Which grants of a user to select; all if nothing is specified. */
interface GrantSelection {
  readonly userId: string;
  readonly projectId?: string | undefined;
  readonly orgId?: string | undefined;
}

/**
 * Lists the grants of a user.
 * @throws IdentityError NOT_FOUND for an unknown user or organisation
 */
export async function* listUserGrants(store: Store, selection: GrantSelection): AsyncGenerator<UserGrant> {
  for await (const { key: _, ...grant } of readGrants(store, selection)) yield grant;
}

/**
 * Finds grants to remove.
 * @throws IdentityError NOT_FOUND for an unknown user or organisation, and for a grant that the user does not have
 */
export async function findUserGrants(
  store: Store,
  selection: GrantSelection & { readonly projectId: string },
): Promise<readonly UserGrant[]> {
  const grants = await Array.fromAsync(listUserGrants(store, selection));
  const { userId, projectId } = selection;
  if (grants.length === 0) throw userGrantUnknown({ userId, projectId });
  return grants;
}

/**
 * Removes grants of a user. The caller must hold the instance's lock exclusively.
 * @returns the removed grants
 */
export async function removeUserGrants(store: Store, selection: GrantSelection): Promise<readonly UserGrant[]> {
  const grants = await Array.fromAsync(readGrants(store, selection));
  return store.transaction(async (transaction) => {
    const stored = await readDependents(
      transaction,
      grants.map(({ key }) => key),
    );
    await forgetImports(transaction, stored);
    await deleteWithClaims(transaction, stored);
    return grants.map(({ key: _, ...grant }) => grant);
  });
}

async function* readGrants(store: Store, { userId, projectId, orgId }: GrantSelection): AsyncGenerator<StoredGrant> {
  await requireUser(store, userId);
  if (orgId !== undefined) await requireOrganisation(store, orgId);
  const { collection } = userGrantSection;
  const range =
    orgId === undefined
      ? { collection, partitions: sectionPartitions(userGrantSection) }
      : { collection, partition: sectionPartition(orgId, userGrantSection) };
  for await (const documents of scanInPasses(store, { ...range, fields: ['orgId', 'body'] }))
    for (const { id, orgId: owner = '', body } of documents) {
      const json = parseObject(body);
      const at = (path: string) => textAt(json, path, owner);
      const isSelected = at('userId') === userId && (projectId ?? at('projectId')) === at('projectId');
      if (!isSelected) continue;
      const roles = textsAt(json, 'roleKeys[]', owner);
      yield { key: { collection, id }, userId, orgId: owner, projectId: at('projectId'), roles };
    }
}
