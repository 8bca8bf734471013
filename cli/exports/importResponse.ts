// The response of an import into a place.

import type { z } from 'zod';
import { importResponse } from '../../functions/import/contract.ts';

const { errors, summary } = importResponse.shape;

/** The schema of the response of an import into a place. Only imports into ZITADEL set the additional fields. */
export const placeImportResponse = importResponse.extend({
  /** The records that were written into another organisation than that of the file. */
  elsewhere: errors,
  summary: summary.extend({
    /** Records that were sent, and that the target does not show. */
    unconfirmed: summary.shape.failed.optional(),
  }),
});

/** The response of an import into a place. */
export type ImportResponse = z.output<typeof placeImportResponse>;
