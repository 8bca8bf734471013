// The default organisation of a source, which an export excludes.

import type { PlaceExportOptions, PlaceFacts } from './placeInterfaces.ts';

/**
 * Returns the default organisation of a source, which stays behind unless it is named: its users, such as the one whose
 * token reads the export, operate that instance.
 * @returns undefined if the organisations are named, and for a file
 */
export function stayingOrganisation(
  facts: Pick<PlaceFacts, 'defaultOrgId'> | undefined,
  orgIds: readonly string[],
): string | undefined {
  return orgIds.length > 0 ? undefined : facts?.defaultOrgId;
}

/** Adds an organisation to those that an export excludes. */
export function withoutOrganisation(options: PlaceExportOptions, orgId: string | undefined): PlaceExportOptions {
  return orgId === undefined ? options : { ...options, excludedOrgIds: [...options.excludedOrgIds, orgId] };
}
