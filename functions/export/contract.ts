import { z } from 'zod';
import type { WrittenObject } from '../../shared/objectStorage/objectStorage.ts';
import { commonAdminErrors, type Endpoint, type Operation } from '../../shared/openapi/endpoint.ts';
import { describeRequest, type JsonSchema } from '../../shared/openapi/jsonSchema.ts';
import { exportFile, manifestSchema } from '../../shared/organisation/exportFile.ts';
import { bucketRequest, requestMessage, timeout, unsupportedField } from '../../shared/wire/requestMessage.ts';

/** The export request (specification 2.4), with our `with_keys` and the outputs of ZITADEL that are refused. */
export const exportRequest = requestMessage({
  orgIds: z.array(z.string()).default([]).describe('Organisations to export; none exports all.'),
  excludedOrgIds: z.array(z.string()).default([]).describe('Organisations to leave out.'),
  withPasswords: z.boolean().default(false).describe('Whether to export password hashes, and secrets of clients.'),
  withOtp: z.boolean().default(false).describe('Whether to export TOTP seeds, and who has the OTP e-mail factor.'),
  withKeys: z.boolean().default(false).describe('Whether to export keys of machines and applications.'),
  timeout: timeout.optional(),
  responseOutput: z.boolean().default(false).describe('Whether the export is the answer.'),
  gcsOutput: bucketRequest.optional().describe('The object to write the export to; none is ever overwritten.'),
  localOutput: unsupportedField,
  s3Output: unsupportedField,
});

/** An export request as it was understood. */
export type ExportRequest = z.output<typeof exportRequest>;

const writtenObject = z
  .strictObject({
    bucket: z.string(),
    path: z.string(),
    generation: z.string().describe('Names this content of the object for good.'),
    size: z.int().nonnegative().describe('Bytes.'),
    crc32c: z.string().describe('CRC32C, base64 of four bytes.'),
  })
  .readonly() satisfies z.ZodType<WrittenObject>;

/**
 * The response of an export (specification 4.2): the export file or, where it went to a bucket only, the written
 * object.
 */
export const exportResponse = z.union([
  exportFile,
  z.strictObject({ manifest: manifestSchema, object: writtenObject }).meta({ id: 'ExportedObject' }),
]);

const anOutput: JsonSchema = {
  anyOf: [
    { required: ['response_output'], properties: { response_output: { const: true } } },
    { required: ['gcs_output'], properties: { gcs_output: { type: 'object' } } },
  ],
};

const operation = (): Operation => ({
  operationId: 'exportOrganisations',
  summary: 'Export organisations',
  description:
    'Exports organisations with all their records, of one moment, as the answer, to Cloud Storage, or both. For a service user with the role IAM_OWNER. Fields are taken by these names and in camelCase.',
  request: {
    schema: describeRequest(exportRequest, anOutput),
    examples: {
      'Export everything': { with_passwords: true, with_otp: true, timeout: '30s', response_output: true },
    },
  },
  response: {
    description: 'The export where `response_output` is true, else what was written to the bucket.',
    contract: exportResponse,
  },
  errors: {
    ...commonAdminErrors,
    400: 'The request is wrong: `details` names every field that is. Or the export is larger than an answer can be: then give `gcs_output`.',
    409: 'The object exists already.',
  },
});

/** `POST /admin/v1/export` (specification 4.2). */
export const exportEndpoint = { method: 'POST', path: '/admin/v1/export', operation } satisfies Endpoint;

/** The function's endpoints. */
export const endpoints: readonly Endpoint[] = [exportEndpoint];
