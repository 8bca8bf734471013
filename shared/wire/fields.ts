import { z } from 'zod';
import { durationPattern } from '../duration.ts';
import { checkObjectName } from '../objectStorage/objectName.ts';
import type { ObjectLocation } from '../objectStorage/objectStorage.ts';
import { readServiceAccount } from '../objectStorage/serviceAccount.ts';
import { requestMessage } from './requestMessage.ts';

/** The `timeout` of a request: its limit is the deployment's, so it is looked at by `parseDuration`. */
export const timeout = z.string().meta({
  pattern: durationPattern.source,
  format: 'go-duration',
  description:
    'The longest that the call may take, as a positive duration of Go, such as "30s" or "1h5m". By default, and at most, MAX_TIMEOUT of the deployment.',
});

/** The object `data_orgsv1_gcs` of the interface (2.6). */
export const bucketRequest = requestMessage({
  path: z.string().default('').meta({ format: 'gcs-object', description: 'The name of the object, 1 to 1024 bytes.' }),
  bucket: z.string().default('').meta({ format: 'gcs-bucket', description: 'The name of the bucket.' }),
  serviceaccountJson: z.string().default('').meta({
    format: 'service-account',
    contentEncoding: 'base64',
    description: "A service account's credentials file, in base64. It is used for this call, and not kept.",
  }),
}).meta({ required: ['path', 'bucket', 'serviceaccountJson'] });

/**
 * Where an object is and with which account to reach it.
 * @param field the request's field that holds `request`, for errors
 * @throws IdentityError INVALID_ARGUMENT naming what is wrong
 */
export function objectLocation(request: z.output<typeof bucketRequest>, field: string): ObjectLocation {
  const { bucket, path, serviceaccountJson } = request;
  checkObjectName({ bucket, path }, field);
  return { bucket, path, account: readServiceAccount(serviceaccountJson, `${field}.serviceaccount_json`) };
}
