import { z } from 'zod';
import type { ObjectLocation } from '../bucket/bucket.ts';
import { checkObjectName } from '../bucket/objectName.ts';
import { readServiceAccount } from '../bucket/serviceAccount.ts';
import { requestMessage } from './requestMessage.ts';

/** The object `data_orgsv1_gcs` of the interface (2.6). */
export const bucketRequest = requestMessage({
  path: z.string().default(''),
  bucket: z.string().default(''),
  serviceaccountJson: z.string().default(''),
});

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
