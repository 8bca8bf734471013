import { z } from 'zod';
import { commonAdminErrors, type Endpoint, type Operation } from '../../shared/openapi/endpoint.ts';
import { describeRequest, type JsonSchema } from '../../shared/openapi/jsonSchema.ts';
import { importedFile } from '../../shared/organisation/exportFile.ts';
import type { Section } from '../../shared/organisation/section.ts';
import { sections } from '../../shared/organisation/sections.ts';
import {
  bucketRequest,
  requestMessage,
  snakeCase,
  spellings,
  timeout,
  unsupportedField,
} from '../../shared/wire/requestMessage.ts';

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
  dataOrgsLocal: unsupportedField,
  dataOrgsv1Local: unsupportedField,
  dataOrgsS3: unsupportedField,
  dataOrgsv1S3: unsupportedField,
};

/**
 * The import request (specification 2.5) apart from documents in it, with our additions and the sources that are
 * refused.
 */
export const importRequest = requestMessage(shape);

/** Its fields by both of their spellings. */
export const importFields: ReadonlyMap<string, string> = spellings(shape);

/** An import request as it was understood. */
export type ImportRequest = z.output<typeof importRequest>;

/** What happens to a record that exists with other content. */
export type OnConflict = ImportRequest['onConflict'];

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

const count = z.record(z.string(), z.int().positive());
const counts = count.describe('Numbers of records by section; those of none are left out.');

const importError = z.strictObject({
  type: z.string().describe('The kind of record, such as `human_user`.'),
  id: z.string().optional(),
  message: z.string().describe('`ID=<id> Message=<key>`, as ZITADEL says it.'),
});

const importWarning = z.strictObject({ type: z.string(), id: z.string(), message: z.string() });

const lists = sections.flatMap(({ success }) => (success === undefined ? [] : [[success.field, successList(success)]]));
const organisation = z
  .strictObject({ ...Object.fromEntries(lists), orgId: z.string() })
  .meta({ id: 'ImportedOrganisation', description: 'The ids of what the import wrote into one organisation.' });

/** The answer of an import (specification 4.3, zitadel 5.7 and zitadel 5.8), with our summary. */
export const importResponse = z
  .strictObject({
    errors: z.array(importError).optional().describe('The records that could not be imported, and why.'),
    success: z.strictObject({ orgs: z.array(organisation).optional() }).describe('What was written, by organisation.'),
    summary: z.strictObject({
      created: counts,
      unchanged: count.describe('What was there with equal content.'),
      overwritten: count.optional(),
      skipped: count.optional(),
      failed: count,
      notCarried: count.describe('What the file holds and this import does not take.'),
      warnings: z.array(importWarning).describe('What was imported, and will not work.'),
      proved: z.boolean().describe('Whether the file had a manifest, and matched it.'),
      resumed: z.boolean().describe('Whether the import went on where an earlier call had stopped.'),
      dryRun: z.literal(true).optional().describe('That nothing was written.'),
      idsOmitted: z.literal(true).optional().describe('That there were too many ids to list.'),
    }),
  })
  .meta({ id: 'ImportReport' });

/** What an import answers. */
export type ImportResponse = z.output<typeof importResponse>;

/** An entry of `errors` in the import response (zitadel 5.7). */
export type ImportError = z.output<typeof importError>;

/** Something about a record that was imported and will not work, which its owner would only find out at login. */
export type ImportWarning = z.output<typeof importWarning>;

function successList({ entry }: NonNullable<Section['success']>): z.ZodType {
  if (Array.isArray(entry)) return z.array(z.string()).optional();
  const part = z.union([z.string(), z.array(z.string())]).optional();
  return z.array(z.strictObject(Object.fromEntries(Object.keys(entry).map((name) => [name, part])))).optional();
}

const document = z
  .union([
    importedFile,
    z
      .string()
      .meta({ contentMediaType: 'application/json', format: 'export-file', description: 'The text of such a file.' }),
  ])
  .optional();

/** The fields that hold a document itself. For descriptions only: what is in them is never held whole. */
const inlineDocuments = requestMessage({ dataOrgs: document, dataOrgsv1: document });

const operation = (): Operation => ({
  operationId: 'importOrganisations',
  summary: 'Import organisations',
  description:
    'Imports an export file: in the request, or from Cloud Storage. For a service user with the role IAM_OWNER. The whole file is checked before anything is written; sent again after an interruption, it goes on. Fields are taken by these names and in camelCase.',
  request: {
    schema: describeRequest(importRequest, oneSource()),
    examples: {
      'See what an import would do': {
        dry_run: true,
        timeout: '10m',
        data_orgsv1: { orgs: [{ orgId: '163840776835432345', org: { name: 'Acme' } }] },
      },
    },
  },
  response: { description: 'What became of every record.', contract: importResponse },
  errors: {
    ...commonAdminErrors,
    400: 'The request or the file is wrong: `details` names every field that is. Nothing was written.',
    404: 'There is no such object.',
    409: 'The object was replaced while it was read, or others changed the same records: send the request again.',
    504: 'The time is over: `details` says how far the import came. Sent again, it goes on from there.',
  },
});

/** Exactly one field names the data: an export file, text that is one, or an object that holds one. */
function oneSource(): JsonSchema {
  const { $defs = {}, properties = {} } = describeRequest(inlineDocuments, {});
  const kinds = [
    ...Object.keys(properties).map((name): [string, JsonSchema['type']] => [name, ['object', 'string']]),
    ...bucketFields.map((name): [string, JsonSchema['type']] => [snakeCase(name), 'object']),
  ];
  const oneOf = kinds.map(([name, type = 'object']) => ({ required: [name], properties: { [name]: { type } } }));
  return { $defs, properties, oneOf };
}

/** `POST /admin/v1/import` (specification 4.3). */
export const importEndpoint = { method: 'POST', path: '/admin/v1/import', operation } satisfies Endpoint;

/** The function's endpoints. */
export const endpoints: readonly Endpoint[] = [importEndpoint];
