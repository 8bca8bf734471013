import { z } from 'zod';
import { exportedManifest, exportFile } from '../../shared/exportFile/manifest.ts';
import {
  commonAdminErrors,
  commonErrors,
  type Endpoint,
  type OperationDescription,
} from '../../shared/openapi/endpoint.ts';
import type { JsonSchema } from '../../shared/openapi/jsonSchema.ts';
import {
  bucketRequest,
  describeRequest,
  type RequestOptions,
  requestMessage,
  spellings,
  timeout,
  transferId,
  unsupportedField,
  writtenObject,
} from '../../shared/wire/requestMessage.ts';
import { requestShape } from '../../shared/wire/transferOptions.ts';

/** An id that no organisation has. An export that selects only this id writes a file with a manifest and no records. */
export const NO_ORGANISATION = '-';

export const exportOptions = { ...requestShape(z, 'export'), timeout: timeout.optional() };

const exportRequestFields = {
  ...exportOptions,
  orgsOnly: z
    .boolean()
    .default(false)
    .describe(
      'Whether to export the organisations without their records. In the export, an organisation that was imported has `importedFrom`, the id of the instance that exported it, if known.',
    ),
  responseOutput: z.boolean().default(false).describe('Whether to return the export file as the response.'),
  gcsOutput: bucketRequest
    .optional()
    .describe('The object to create from the export file. Existing objects are never overwritten.'),
  // A client that sends this field wants a file for ZITADEL, which this endpoint cannot write. ZITADEL would lose
  // records of an ordinary file. So reject the field, although other unknown fields are ignored.
  forZitadel: z.never({ error: 'unknown field: `identity export --for-zitadel` writes files for ZITADEL' }).optional(),
  localOutput: unsupportedField,
  s3Output: unsupportedField,
};

/**
 * An export request (specification 2.4). The contract adds `with_keys` and `orgs_only` to ZITADEL's fields, and rejects
 * `local_output` and `s3_output`.
 */
export const exportRequest = requestMessage(exportRequestFields);

export const exportFields: ReadonlyMap<string, string> = spellings(exportRequestFields);

export type ExportRequest = z.output<typeof exportRequest>;

export type ExportRequestOptions = RequestOptions<typeof exportOptions>;

/** The default options of an export request: all organisations, without secrets. */
export const defaultExportOptions: ExportRequestOptions = z.object(exportOptions).omit({ timeout: true }).parse({});

/** The response of an export that wrote only an object in a bucket. */
const exportedObject = z
  .strictObject({ manifest: exportedManifest, object: writtenObject })
  .meta({ id: 'ExportedObject' });

export const exportResponse = z.union([exportFile, exportedObject]);

const outputs: JsonSchema = {
  anyOf: [
    { required: ['response_output'], properties: { response_output: { const: true } } },
    { required: ['gcs_output'], properties: { gcs_output: { type: 'object' } } },
  ],
};

const exportOperation = (): OperationDescription => ({
  operationId: 'exportOrganisations',
  tag: 'Organisations',
  summary: 'Export organisations',
  description:
    'Exports organisations with all their records from one snapshot: to the response, to Cloud Storage, or to both. Requires the role IAM_OWNER. Field names are accepted in snake_case and camelCase.',
  request: {
    schema: describeRequest(exportRequest, outputs),
    examples: {
      'Export without secrets': { response_output: true },
      'Export with password hashes and OTP seeds': {
        with_passwords: true,
        with_otp: true,
        timeout: '30s',
        response_output: true,
      },
    },
  },
  response: {
    description:
      'The export file if `response_output` is true; otherwise its manifest and the object that contains it.',
    contract: exportResponse,
  },
  redirect: {
    description:
      'The export is too large for a response: a GET of `location` returns the whole file. The object that contains the file expires after a day; `DELETE` deletes it earlier.',
    contract: exportedObject,
    location:
      'A signed address of the file. A download needs no token, and must start within ten minutes of this response.',
  },
  errors: {
    ...commonAdminErrors,
    400: 'The request is invalid: `details` lists every invalid field. Or the export is too large for a response, and the instance has no bucket for transfers: set `gcs_output`.',
    409: 'An object of this name already exists.',
  },
});

/** `POST /admin/v1/export` (specification 4.2). */
export const exportEndpoint = {
  method: 'POST',
  path: '/admin/v1/export',
  operation: exportOperation,
} satisfies Endpoint;

const objectDeletion = (): OperationDescription => ({
  operationId: 'deleteExportedObject',
  tag: 'Organisations',
  summary: 'Delete the object of an export',
  description:
    'Deletes an object that an export of the caller created for a redirection, before the object expires. Requires the role IAM_OWNER.',
  query: { object: transferId.describe('The last part of the object’s `path`.') },
  response: { description: 'The object is deleted.', contract: z.strictObject({}) },
  errors: {
    ...commonErrors,
    400: 'The id is missing or malformed.',
    403: 'The caller does not hold the role IAM_OWNER, or another caller created the object.',
    404: 'The object does not exist: it was deleted, or has expired.',
  },
});

export const objectDeletionEndpoint = {
  method: 'DELETE',
  path: exportEndpoint.path,
  operation: objectDeletion,
} satisfies Endpoint;

export const endpoints: readonly Endpoint[] = [exportEndpoint, objectDeletionEndpoint];
