import { z } from 'zod';
import { bucketRequest } from './bucketRequest.ts';
import { requestMessage } from './requestMessage.ts';

/** The export request (interface 2.4), with our `with_keys` and the outputs of ZITADEL that are refused. */
export const exportRequest = requestMessage({
  orgIds: z.array(z.string()).default([]),
  excludedOrgIds: z.array(z.string()).default([]),
  withPasswords: z.boolean().default(false),
  withOtp: z.boolean().default(false),
  withKeys: z.boolean().default(false),
  timeout: z.string().optional(),
  responseOutput: z.boolean().default(false),
  gcsOutput: bucketRequest.optional(),
  localOutput: z.unknown().optional(),
  s3Output: z.unknown().optional(),
});

/** An export request as it was understood. */
export type ExportRequest = z.output<typeof exportRequest>;
