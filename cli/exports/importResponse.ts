import type { ImportResponse as ServedResponse } from '../../functions/import/contract.ts';

/**
 * The response of an import into an instance, a database or ZITADEL. Only imports into ZITADEL set the fields that this
 * type adds.
 */
export interface ImportResponse extends Omit<ServedResponse, 'summary'> {
  /** Records that ZITADEL wrote into a different organisation than the file specifies. */
  readonly elsewhere?: ServedResponse['errors'];
  readonly summary: ServedResponse['summary'] & {
    /**
     * The numbers of records, by section, that the import sent and that ZITADEL did not return when the import read it
     * again.
     */
    readonly unconfirmed?: ServedResponse['summary']['failed'];
  };
}
