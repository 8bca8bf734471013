import { getHeapStatistics } from 'node:v8';
import { dryRunTooLarge, tooManyInRequest } from '../errors/errors.ts';
import { UNLIMITED } from '../limitDefinition.ts';
import { limitedQuantities } from '../limits.ts';
import type { OrganisationRecord } from '../organisation/record.ts';

/**
 * The maximum numbers of organisations, records and clear passwords in a file. If `records` or `clearPasswords` is
 * absent, the file may have any number of them. If `organisations` is absent, the maximum depends on the heap.
 */
export interface FileLimits {
  readonly organisations?: number;
  readonly records?: number;
  readonly clearPasswords?: number;
}

/** The number of bytes in the heap that an import needs per organisation of the file. */
const ORGANISATION_BYTES = 2_200;

const SELECT = 'import fewer organisations of the file at a time, with org_ids (in the command, --org)';

export class FileBudget {
  private readonly limits: FileLimits;
  private readonly organisations: number;
  private records = 0;
  private clearPasswords = 0;

  constructor(limits: FileLimits = {}) {
    this.limits = limits;
    const { organisations = UNLIMITED } = limits;
    const fittingHeap = () => Math.floor(getHeapStatistics().heap_size_limit / ORGANISATION_BYTES);
    this.organisations = organisations === UNLIMITED ? fittingHeap() : organisations;
  }

  /** @throws IdentityError 413 if `count` exceeds the limit */
  checkOrganisations(count: number): void {
    if (count > this.organisations)
      throw tooManyInRequest({
        limit: this.organisations,
        what: limitedQuantities.organisations,
        advice: 'export fewer organisations at a time',
      });
  }

  /**
   * Counts a record.
   * @throws IdentityError 413 if the file has too many records or clear passwords
   */
  take({ clearPassword }: Pick<OrganisationRecord, 'clearPassword'>): void {
    const { records = UNLIMITED, clearPasswords = UNLIMITED } = this.limits;
    if (++this.records > records)
      throw dryRunTooLarge({ limit: records, what: limitedQuantities.dryRunRecords, advice: SELECT });
    if (clearPassword !== undefined && ++this.clearPasswords > clearPasswords)
      throw tooManyInRequest({
        limit: clearPasswords,
        what: limitedQuantities.clearPasswords,
        advice: `hash the passwords before the import, or ${SELECT}`,
      });
  }
}
