interface Selection {
  /** The ids of the organisations to select. If there are no ids, all organisations are selected. */
  readonly orgIds?: readonly string[];
  readonly excludedOrgIds?: readonly string[];
}

export function organisationFilter({ orgIds = [], excludedOrgIds = [] }: Selection): (orgId: string) => boolean {
  const selected = new Set(orgIds);
  const excluded = new Set(excludedOrgIds);
  return (orgId) => (selected.size === 0 || selected.has(orgId)) && !excluded.has(orgId);
}
