import type { ImportResponse as ServedResponse } from '../../functions/import/contract.ts';

/** The response of an import into a place. Only imports into ZITADEL set the additional fields. */
export interface ImportResponse extends Omit<ServedResponse, 'summary'> {
  /** The records that ZITADEL wrote into another organisation than that of the file. */
  readonly elsewhere?: ServedResponse['errors'];
  readonly summary: ServedResponse['summary'] & {
    /** Records that the import sent, and that the target does not show. */
    readonly unconfirmed?: ServedResponse['summary']['failed'];
  };
}
