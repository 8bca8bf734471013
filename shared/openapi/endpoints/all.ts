import { exportEndpoint } from '../../../functions/export/contract.ts';
import { importEndpoint } from '../../../functions/import/contract.ts';
import { removeOtpEmailEndpoints } from '../../../functions/removeOtpEmail/contract.ts';
import type { Endpoint } from '../endpoint.ts';

/** What an instance answers, for a process that answers only some of it. */
export const allEndpoints: readonly Endpoint[] = [
  ...Object.values(removeOtpEmailEndpoints),
  exportEndpoint,
  importEndpoint,
];
