import { z } from 'zod';
import { bucketRequest } from './bucketRequest.ts';
import { refusedField, requestMessage, spellings } from './requestMessage.ts';
import { timeout } from './timeout.ts';

const inBucket = bucketRequest.optional().describe('The object that the export was written to.');

const shape = {
  timeout: timeout.optional(),
  withKeys: z.boolean().default(false).describe('Whether to take keys of machines and applications.'),
  dryRun: z.boolean().default(false).describe('Whether to report what the import would do, and to write nothing.'),
  onConflict: z
    .enum(['report', 'skip', 'overwrite'])
    .default('report')
    .describe('What happens to a record that is there with other content.'),
  dataOrgsGcs: inBucket,
  dataOrgsv1Gcs: inBucket,
  dataOrgsLocal: refusedField,
  dataOrgsv1Local: refusedField,
  dataOrgsS3: refusedField,
  dataOrgsv1S3: refusedField,
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
