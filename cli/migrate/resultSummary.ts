// The summary of a migration's result.

import { counted } from '../numberTexts.ts';
import type { MigrationResult } from './migrationDocuments.ts';

/** Returns the number of records that are equal on both sides. */
export function equalRecords({ proof }: MigrationResult): number {
  return Object.values(proof.sections).reduce((sum, { equal }) => sum + equal, 0);
}

/** Returns the outcome of a migration, such as `Done` or `Finished with 1 difference and 2 errors`. */
export function endText({ outcome, proof, errors, errorsOmitted }: MigrationResult): string {
  if (outcome === 'done') return 'Done';
  const failures = { difference: proof.unexpected, error: errors.length + errorsOmitted };
  const problems = Object.entries(failures).flatMap(([noun, count]) => (count === 0 ? [] : [counted(count, noun)]));
  return `Finished with ${problems.join(' and ')}`;
}
