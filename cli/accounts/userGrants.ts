import { deleteFound, forgetImports, type Stored, scanStored } from '../../shared/accounts/dependents.ts';
import { requireOrganisation, requireUser } from '../../shared/accounts/userAccounts.ts';
import { userGrantUnknown } from '../../shared/errors/commandErrors.ts';
import { parseObject, textAt, textsAt } from '../../shared/json/jsonObject.ts';
import { userGrantSection } from '../../shared/organisation/sections/grants.ts';
import { sectionPartition, sectionPartitions } from '../../shared/organisation/sections/section.ts';
import type { Store } from '../../shared/store/store.ts';

export interface UserGrant {
  readonly userId: string;
  /** The organisation that granted the roles. */
  readonly orgId: string;
  readonly projectId: string;
  readonly roles: readonly string[];
}

interface StoredGrant extends Stored {
  readonly grant: UserGrant;
}

/**
 * Selects grants of a user. If `projectId` or `orgId` is undefined, the selection contains the grants of all projects
 * or of all organisations.
 */
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
  for await (const grants of readGrants(store, selection)) for (const { grant } of grants) yield grant;
}

/**
 * Finds grants to remove.
 * @throws IdentityError NOT_FOUND for an unknown user or organisation, or if the user does not have the grant
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
  const removed: UserGrant[] = [];
  async function* noteRemoved() {
    for await (const grants of readGrants(store, selection)) {
      removed.push(...grants.map(({ grant }) => grant));
      yield grants;
    }
  }
  await deleteFound(store, noteRemoved(), { onDeleting: forgetImports });
  return removed;
}

async function* readGrants(
  store: Store,
  { userId, projectId, orgId }: GrantSelection,
): AsyncGenerator<readonly StoredGrant[]> {
  await requireUser(store, userId);
  if (orgId !== undefined) await requireOrganisation(store, orgId);
  const { collection } = userGrantSection;
  const range =
    orgId === undefined
      ? { collection, partitions: sectionPartitions(userGrantSection) }
      : { collection, partition: sectionPartition(orgId, userGrantSection) };
  for await (const documents of scanStored(store, range))
    yield documents
      .map((document) => ({ ...document, grant: grantIn(document) }))
      .filter(({ grant }) => grant.userId === userId && (projectId ?? grant.projectId) === grant.projectId);
}

function grantIn({ stored: { orgId = '', body } }: Stored): UserGrant {
  const json = parseObject(body);
  const at = (path: string) => textAt(json, path, orgId);
  return { userId: at('userId'), orgId, projectId: at('projectId'), roles: textsAt(json, 'roleKeys[]', orgId) };
}
