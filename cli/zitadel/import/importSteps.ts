// The order in which a ZITADEL takes sections, and what its imports change.

import { zitadelSteps } from '../../../shared/organisation/section.ts';
import { recordSections } from '../../../shared/organisation/sections.ts';

const positions: ReadonlyMap<string, number> = new Map(
  recordSections.flatMap(({ name, zitadelStep }) =>
    zitadelStep === 'dropped' ? [] : [[name, zitadelSteps.indexOf(zitadelStep)] as const],
  ),
);

/** Returns the step that sends a section; undefined for a section that ZITADEL does not take. */
export function stepOf(section: string): number | undefined {
  return positions.get(section);
}

/** The texts of messages, which ZITADEL writes to the organisation in whose context it handles the request. */
export const stepInContext = zitadelSteps.indexOf('message texts');

/** The differences of every import into a ZITADEL, as texts for plans. */
export const importChanges: readonly string[] = [
  'it never overwrites records: existing ones stay unchanged',
  'it refuses ids that exist in another of its organisations, or existed in a deleted one, which no plan can detect: use new ids, or another instance',
  'it does not distinguish role keys and application names by case',
  'it verifies each domain, also unverified ones unless the domain policy of the organisation validates domains, and adds a domain of its own to each organisation',
  'imported records appear in it up to 2 s later',
];
