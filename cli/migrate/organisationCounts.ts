// Counts of an organisation's records, compared with the target.

import type { Counts } from '../../shared/collections/counts.ts';
import type { OrganisationCounts } from './migrationTypes.ts';

/** The counts of an organisation on neither side. */
export const noCounts: OrganisationCounts = {
  absent: 0,
  equal: 0,
  different: 0,
  differentAsExpected: 0,
  onlyTarget: 0,
};

/** Returns the counts of compared records, by the outcomes of a comparison. */
export function recordCounts({ onlyFirst: absent = 0, onlySecond: onlyTarget = 0, ...both }: Counts = {}) {
  return { ...noCounts, ...both, absent, onlyTarget };
}
