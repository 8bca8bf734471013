import { invalidRequest } from '../../../shared/errors/errors.ts';
import type { Manifest, ManifestTally } from '../../../shared/organisation/exportFile.ts';
import type { OrganisationHeader } from './organisationDraft.ts';

/** Adds the organisations' own records to what the file's manifest must say. */
export function addOrganisations(tally: ManifestTally, organisations: readonly OrganisationHeader[]): void {
  for (const { record } of organisations) {
    tally.addOrganisation();
    if (record !== undefined) tally.add({ ...record, section: record.section.name });
  }
}

/**
 * Compares a file's records with its manifest.
 * @throws IdentityError INVALID_ARGUMENT naming each difference
 */
export function checkManifest(manifest: Manifest, tally: ManifestTally): void {
  const names = new Set([...Object.keys(manifest.counts), ...Object.keys(tally.counts)]);
  const violations = [...names]
    .filter((name) => (manifest.counts[name] ?? 0) !== (tally.counts[name] ?? 0))
    .map((name) => ({
      field: `manifest.counts.${name}`,
      description: `count mismatch: ${manifest.counts[name] ?? 0} in the manifest, ${tally.counts[name] ?? 0} in the file`,
    }));
  if (violations.length === 0 && manifest.digest !== tally.digest) {
    violations.push({
      field: 'manifest.digest',
      description: 'digest mismatch: the records differ from the exported ones',
    });
  }
  if (violations.length > 0) throw invalidRequest(violations);
}
