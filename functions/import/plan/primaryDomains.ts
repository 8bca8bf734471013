// The primary domains that organisations have before an import.

import type { OrganisationHeader } from '../../../shared/exportFile/organisationDraft.ts';
import { type PrimaryDomain, sectionPartition } from '../../../shared/organisation/section.ts';
import { domainSection, lastPrimaryPath, parsePrimaryDomain } from '../../../shared/organisation/sections/domains.ts';
import { scanInPasses } from '../../../shared/store/passes.ts';
import { type DocumentStore, readByPath } from '../../../shared/store/store.ts';
import type { ImportContext, ImportedStore } from '../context.ts';

const { collection } = domainSection;
const fields = ['body'] as const;

/**
 * Finds the stored primary domains of organisations to which the file gives one, by the organisations' ids. Most have the
 * file's already, so the domains of few organisations are scanned.
 */
export async function findPrimaryDomains(
  { store, base, rules }: Pick<ImportContext, 'base' | 'rules'> & { readonly store: DocumentStore },
  headers: readonly OrganisationHeader[],
): Promise<ReadonlyMap<string, PrimaryDomain>> {
  const overwrites = rules.onConflict === 'overwrite';
  const paths = headers.flatMap(({ lastMarked }) => lastPrimaryPath(lastMarked) ?? []);
  const keys = paths.map((path) => ({ collection, id: path.slice(collection.length + 1) }));
  const stored = await readByPath(store, keys, fields);
  const primaryDomains = new Map<string, PrimaryDomain>();
  for (const { orgId, lastMarked } of headers) {
    const path = lastPrimaryPath(lastMarked);
    if (path === undefined) continue;
    const document = stored.get(path);
    const primary =
      (document && parsePrimaryDomain(document, lastMarked, overwrites)) ??
      (await scanForPrimary(base, orgId, lastMarked, overwrites));
    if (primary !== undefined) primaryDomains.set(orgId, primary);
  }
  return primaryDomains;
}

async function scanForPrimary(
  base: ImportedStore,
  orgId: string,
  lastMarked: OrganisationHeader['lastMarked'],
  overwrites: boolean,
): Promise<PrimaryDomain | undefined> {
  const range = { collection, partition: sectionPartition(orgId, domainSection), fields };
  for await (const documents of scanInPasses(base, range)) {
    for (const document of documents) {
      const primary = parsePrimaryDomain(document, lastMarked, overwrites);
      if (primary !== undefined) return primary;
    }
  }
  return undefined;
}
