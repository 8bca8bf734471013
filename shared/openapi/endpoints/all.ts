import type { Endpoint } from '../endpoint.ts';
import { exportEndpoint } from './export.ts';
import { importEndpoint } from './import.ts';
import { removeOtpEmailEndpoints } from './removeOtpEmail.ts';

/** What an instance answers, for a process that answers only some of it. */
export const allEndpoints: readonly Endpoint[] = [
  ...Object.values(removeOtpEmailEndpoints),
  exportEndpoint,
  importEndpoint,
];
