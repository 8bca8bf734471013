import type { ImportResponse as ServedResponse } from '../../functions/import/contract.ts';

/**
 * The response of an import into an instance, a database or ZITADEL. This type adds fields that only imports into
 * ZITADEL set.
 */
export interface ImportResponse extends Omit<ServedResponse, 'summary'> {
  /** Records that ZITADEL wrote into a different organisation than the file specifies. */
  readonly elsewhere?: ServedResponse['errors'];
  readonly summary: ServedResponse['summary'] & {
    /** For each section, the number of records that the import sent, but that never appeared in ZITADEL's exports. */
    readonly unconfirmed?: ServedResponse['summary']['failed'];
  };
}
