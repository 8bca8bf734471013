import { tooManyInRequest } from '../../../shared/errors/errors.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';

/** What a file may hold; infinite where there is no limit. */
export interface FileLimits {
  readonly organisations: number;
  readonly records: number;
  readonly clearPasswords: number;
}

/** The limits of files from a trusted place. */
export const unlimited: FileLimits = {
  organisations: Number.POSITIVE_INFINITY,
  records: Number.POSITIVE_INFINITY,
  clearPasswords: Number.POSITIVE_INFINITY,
};

const SPLIT = 'split the file, or import some of its organisations at a time with org_ids';

/** What one pass over a file has used of its limits. */
export class FileBudget {
  private readonly limits: FileLimits;
  private records = 0;
  private clearPasswords = 0;

  constructor(limits: FileLimits) {
    this.limits = limits;
  }

  /** @throws IdentityError 413 */
  checkOrganisations(count: number): void {
    const { organisations } = this.limits;
    if (count > organisations) throw tooManyInRequest(organisations, 'organisations', 'split the file');
  }

  /**
   * Counts a record that is imported.
   * @throws IdentityError 413
   */
  take({ clearPassword }: Pick<OrganisationRecord, 'clearPassword'>): void {
    const { records, clearPasswords } = this.limits;
    if (++this.records > records) throw tooManyInRequest(records, 'records of a dry run', SPLIT);
    if (clearPassword !== undefined && ++this.clearPasswords > clearPasswords)
      throw tooManyInRequest(clearPasswords, 'clear passwords', `hash them before the import, or ${SPLIT}`);
  }
}
