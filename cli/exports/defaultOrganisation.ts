// Finds the default organisation of a source. An export excludes it.

import type { PlaceExportOptions, PlaceFacts } from './placeInterfaces.ts';

/**
 * Returns the default organisation that an export excludes. An export includes it only if the call selects it, because
 * its users, such as the token's user, operate that instance.
 * @returns undefined if the call selects organisations, and for a file
 */
export function stayingOrganisation(
  facts: Pick<PlaceFacts, 'defaultOrgId'> | undefined,
  orgIds: readonly string[],
): string | undefined {
  return orgIds.length > 0 ? undefined : facts?.defaultOrgId;
}

/** Adds an organisation to the excluded organisations of an export. */
export function withoutOrganisation(options: PlaceExportOptions, orgId: string | undefined): PlaceExportOptions {
  return orgId === undefined ? options : { ...options, excludedOrgIds: [...options.excludedOrgIds, orgId] };
}
