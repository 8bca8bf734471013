/** The part of a request that selects organisations. */
interface Selection {
  /** Without ids, all organisations are selected. */
  readonly orgIds?: readonly string[];
  readonly excludedOrgIds?: readonly string[];
}

/** Returns a function that checks by id whether a request selects an organisation. */
export function organisationFilter({ orgIds = [], excludedOrgIds = [] }: Selection): (orgId: string) => boolean {
  const selected = new Set(orgIds);
  const excluded = new Set(excludedOrgIds);
  return (orgId) => (selected.size === 0 || selected.has(orgId)) && !excluded.has(orgId);
}
