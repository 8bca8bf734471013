import type { PlaceExportOptions, PlaceFacts } from './placeInterfaces.ts';

/**
 * Returns the id of the default organisation. An export leaves out this organisation, because its users, such as the
 * token's user, operate the source.
 * @returns undefined if the call selects organisations, or if the source is a file
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
