import type { OrganisationHeader } from '../../../shared/exportFile/organisationDraft.ts';
import { holderKey } from '../../../shared/organisation/claimKeys.ts';
import {
  domainSection,
  lastPrimaryPath,
  parsePrimaryDomain,
  primaryDomainKey,
} from '../../../shared/organisation/sections/domains.ts';
import type { PrimaryDomain } from '../../../shared/organisation/sections/section.ts';
import { documentPath, readByPath } from '../../../shared/store/store.ts';
import type { ImportContext } from '../context.ts';
import { isDeleted } from '../mirror/deletions.ts';

/**
 * If the file contains a primary domain of an organisation, finds the organisation's stored primary domain. Omits
 * domains that the import deletes.
 * @returns the stored primary domains; the key is the organisation's id
 */
export async function findPrimaryDomains(
  { store, rules, mirror }: Pick<ImportContext, 'store' | 'rules' | 'mirror'>,
  headers: readonly OrganisationHeader[],
): Promise<ReadonlyMap<string, PrimaryDomain>> {
  const marked = headers.filter(({ lastMarked }) => lastPrimaryPath(lastMarked) !== undefined);
  const claimKeys = marked.map(({ orgId }) => primaryDomainKey(orgId));
  const claims = await store.getMany(claimKeys, ['ownerId']);
  const keys = claims.map((claim) => claim && holderKey(claim, domainSection.collection));
  const stored = await readByPath(
    store,
    keys.filter((key) => key !== undefined),
    ['body'],
  );
  const overwrites = rules.onConflict === 'overwrite';
  return new Map(
    marked.flatMap(({ orgId, lastMarked }, index) => {
      const key = keys[index];
      const path = key && documentPath(key);
      const document = path === undefined || isDeleted(path, mirror) ? undefined : stored.get(path);
      return document === undefined ? [] : [[orgId, parsePrimaryDomain(document, lastMarked, overwrites)]];
    }),
  );
}
