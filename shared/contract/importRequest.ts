import { z } from 'zod';
import { bucketRequest } from './bucketRequest.ts';
import { requestMessage, spellings } from './requestMessage.ts';

const shape = {
  timeout: z.string().optional(),
  withKeys: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  onConflict: z.enum(['report', 'skip', 'overwrite']).default('report'),
  dataOrgsGcs: bucketRequest.optional(),
  dataOrgsv1Gcs: bucketRequest.optional(),
  dataOrgsLocal: z.unknown().optional(),
  dataOrgsv1Local: z.unknown().optional(),
  dataOrgsS3: z.unknown().optional(),
  dataOrgsv1S3: z.unknown().optional(),
};

/** The import request (interface 2.5) apart from documents in it, with our additions and the sources that are refused. */
export const importRequest = requestMessage(shape);

/** Its fields by both of their spellings. */
export const importFields: ReadonlyMap<string, string> = spellings(shape);

/** An import request as it was understood. */
export type ImportRequest = z.output<typeof importRequest>;

/** Fields that hold a document itself, by both of their spellings. */
export const inlineFields: ReadonlyMap<string, string> = new Map([
  ['data_orgs', 'data_orgs'],
  ['dataOrgs', 'data_orgs'],
  ['data_orgsv1', 'data_orgsv1'],
  ['dataOrgsv1', 'data_orgsv1'],
]);

/** Fields that name an object in a bucket. */
export const bucketFields = ['dataOrgsGcs', 'dataOrgsv1Gcs'] as const;

/** Sources of ZITADEL's that this service refuses: a server's own files, and S3. */
export const refusedFields = ['dataOrgsLocal', 'dataOrgsv1Local', 'dataOrgsS3', 'dataOrgsv1S3'] as const;
