import type { PlaceExportOptions, PlaceFacts } from './placeInterfaces.ts';

/**
 * Returns the default organisation that an export leaves out, because the users of this organisation operate the
 * source. For example, the token's user belongs to it.
 * @returns undefined if the call selects organisations, and for a file
 */
export function stayingOrganisation(
  facts: Pick<PlaceFacts, 'defaultOrgId'> | undefined,
  orgIds: readonly string[],
): string | undefined {
  return orgIds.length > 0 ? undefined : facts?.defaultOrgId;
}

export function withoutOrganisation(options: PlaceExportOptions, orgId: string | undefined): PlaceExportOptions {
  return orgId === undefined ? options : { ...options, excludedOrgIds: [...options.excludedOrgIds, orgId] };
}
