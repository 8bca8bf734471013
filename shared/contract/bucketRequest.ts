import { z } from 'zod';
import type { ObjectLocation } from '../bucket/bucket.ts';
import { checkObjectName } from '../bucket/objectName.ts';
import { readServiceAccount } from '../bucket/serviceAccount.ts';
import { requestMessage } from './requestMessage.ts';

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
