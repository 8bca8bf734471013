import type { ImportResponse as ServedResponse } from '../../functions/import/contract.ts';

/** The response of an import into a place. Only imports into ZITADEL set the additional fields. */
export interface ImportResponse extends Omit<ServedResponse, 'summary'> {
  /** Records that ZITADEL wrote into an organisation other than the organisation of the file. */
  readonly elsewhere?: ServedResponse['errors'];
  readonly summary: ServedResponse['summary'] & {
    /** By section, the numbers of records that the import sent but that the target did not return afterwards. */
    readonly unconfirmed?: ServedResponse['summary']['failed'];
  };
}
