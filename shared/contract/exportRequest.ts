import { z } from 'zod';
import { bucketRequest } from './bucketRequest.ts';
import { refusedField, requestMessage } from './requestMessage.ts';
import { timeout } from './timeout.ts';

/** The export request (interface 2.4), with our `with_keys` and the outputs of ZITADEL that are refused. */
export const exportRequest = requestMessage({
  orgIds: z.array(z.string()).default([]).describe('Organisations to export; none exports all.'),
  excludedOrgIds: z.array(z.string()).default([]).describe('Organisations to leave out.'),
  withPasswords: z.boolean().default(false).describe('Whether to export password hashes, and secrets of clients.'),
  withOtp: z.boolean().default(false).describe('Whether to export TOTP seeds, and who has the OTP e-mail factor.'),
  withKeys: z.boolean().default(false).describe('Whether to export keys of machines and applications.'),
  timeout: timeout.optional(),
  responseOutput: z.boolean().default(false).describe('Whether the export is the answer.'),
  gcsOutput: bucketRequest.optional().describe('The object to write the export to; none is ever overwritten.'),
  localOutput: refusedField,
  s3Output: refusedField,
});

/** An export request as it was understood. */
export type ExportRequest = z.output<typeof exportRequest>;
