import { z } from 'zod';
import { errorBody } from '../../shared/errors/identityError.ts';
import type { IssueRow } from '../../shared/errors/issueText.ts';
import { instanceIssues } from '../../shared/errors/recordIssues.ts';
import { type RecordWarning, warnings } from '../../shared/errors/warnings.ts';
import { importedFile } from '../../shared/exportFile/manifest.ts';
import { snakeCase } from '../../shared/json/spelling.ts';
import {
  commonAdminErrors,
  commonErrors,
  type Endpoint,
  type OperationDescription,
} from '../../shared/openapi/endpoint.ts';
import type { JsonSchema } from '../../shared/openapi/jsonSchema.ts';
import { sections } from '../../shared/organisation/allSections.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import {
  bucketRequest,
  describeRequest,
  type RequestOptions,
  requestMessage,
  spellings,
  timeout,
  transferId,
  unsupportedField,
} from '../../shared/wire/requestMessage.ts';
import { requestShape } from '../../shared/wire/transferOptions.ts';

/** The largest object of Cloud Storage: 5 TiB. */
const MAX_UPLOAD_BYTES = 5 * 2 ** 40;

const uploadRequest = requestMessage({
  size: z.int().positive().max(MAX_UPLOAD_BYTES).describe('The number of bytes of the file, as they will be sent.'),
});

const bucketSource = bucketRequest.optional().describe('The object that contains the export file.');

/** The media type of a body that is only the export file; the options are then in the query. */
export const EXPORT_FILE = 'application/vnd.identity.export+json';

export const importOptions = { timeout: timeout.optional(), ...requestShape(z, 'import') };

const importRequestFields = {
  ...importOptions,
  dataOrgsGcs: bucketSource,
  dataOrgsv1Gcs: bucketSource,
  upload: uploadRequest
    .optional()
    .describe('Opens a resumable upload of a file for a later import, instead of importing.'),
  dataOrgsUpload: transferId.optional().describe('The id of the upload whose file is imported.'),
  dataOrgsLocal: unsupportedField,
  dataOrgsv1Local: unsupportedField,
  dataOrgsS3: unsupportedField,
  dataOrgsv1S3: unsupportedField,
};

/**
 * The import request (specification 2.5) without inline export files. The contract rejects sources of files that only
 * ZITADEL supports. ZITADEL's own request has no uploads, and no options except `timeout`.
 */
export const importRequest = requestMessage(importRequestFields);

export const importFields: ReadonlyMap<string, string> = spellings(importRequestFields);

export type ImportRequest = z.output<typeof importRequest>;

export type ImportRequestOptions = RequestOptions<typeof importOptions>;

export type OnConflict = ImportRequest['onConflict'];

export type RecordConflict = Exclude<OnConflict, 'fail'>;

/**
 * Returns how an import handles existing records. With `fail`, all organisations are new, so an existing record usually
 * belongs to another organisation. The import then reports an error for the record, as with `report`.
 */
export function recordConflict(onConflict: OnConflict): RecordConflict {
  return onConflict === 'fail' ? 'report' : onConflict;
}

export const bucketFields = ['dataOrgsGcs', 'dataOrgsv1Gcs'] as const;

/** Fields that select an upload: the first opens an upload, the second imports its file. */
export const uploadFields = ['upload', 'dataOrgsUpload'] as const;

export const unsupportedSources = ['dataOrgsLocal', 'dataOrgsv1Local', 'dataOrgsS3', 'dataOrgsv1S3'] as const;

const count = z.record(z.string(), z.int().positive());
const counts = count.describe('Numbers of records by section. A section without such records is absent.');

function issueFields(rows: Readonly<Record<string, IssueRow>>, kind: string) {
  const description = `The reason of the ${kind}. The names of reasons never change, unlike the messages. Later versions may add reasons.`;
  return {
    reason: z.string().meta({ description, 'x-extensible-enum': Object.keys(rows) }),
    params: z.record(z.string(), z.string()).exactOptional().describe('The parameters of the reason.'),
  };
}

const importError = z.strictObject({
  type: z.string().describe('The record’s type, such as `human_user`.'),
  id: z.string().optional(),
  message: z.string().describe('ZITADEL’s error, as `ID=<id> Message=<key>`.'),
  ...issueFields(instanceIssues, 'error'),
});

const omitted = z.int().positive().optional();
export const importWarning = z.strictObject({
  type: z
    .string()
    .describe(
      'What the warning is about: the type of a record, such as `human_user`; `privilege` (the import grants a role), `state` (the import changes a state), `domain` (the import adds a verified domain), or `request` (the import ignores a field of the request).',
    ),
  id: z.string().exactOptional().describe('Absent in a warning about the whole file or request.'),
  ...issueFields(warnings, 'warning'),
  message: z.string(),
});

const deletion = z.strictObject({
  type: z
    .string()
    .describe(
      'The record’s type, such as `human_user`; or `token` or `instance_member`, for a token or an instance role of a deleted user.',
    ),
  orgId: z
    .string()
    .describe('The organisation of the record; for a token or an instance role, the organisation of the user.'),
  id: z.string(),
  name: z.string().exactOptional().describe('The name of a user, project, application or domain.'),
  roles: z.array(z.string()).exactOptional().describe('The roles of a member or a grant.'),
});

export type Deletion = z.output<typeof deletion>;

const successLists = sections.flatMap(({ success }) =>
  success === undefined ? [] : [[success.field, successList(success)]],
);
const organisation = z.strictObject({ ...Object.fromEntries(successLists), orgId: z.string() }).meta({
  id: 'ImportedOrganisation',
  description: 'An organisation’s id, and the ids of the records that the import wrote into the organisation.',
});

/** The response to an import (specification 4.3; see zitadel 5.7 and 5.8). ZITADEL's response has no `summary`. */
export const importResponse = z
  .strictObject({
    errors: z
      .array(importError)
      .optional()
      .describe('The first 10,000 records that could not be imported, each with its error.'),
    success: z
      .strictObject({ orgs: z.array(organisation).optional() })
      .describe('The written records, by organisation.'),
    summary: z.strictObject({
      created: counts,
      createdOrgs: z
        .array(z.string())
        .optional()
        .describe('The first organisations that the request created, or would create in a dry run.'),
      unchanged: count.describe('Records that existed with equal content.'),
      overwritten: count.optional(),
      skipped: count.optional(),
      deleted: count
        .optional()
        .describe(
          'With `mirror`: the deleted records, or in a dry run the records to delete; also `tokens` and `instanceMembers` of deleted users.',
        ),
      failed: count,
      notCarried: count.describe('Records of the file that the import ignores.'),
      warnings: z
        .array(importWarning)
        .describe(
          'First, a warning for each ignored field of the request, for a file without a manifest, and for a file without states of organisations and users. Then the manager roles and verified domains that the import adds to existing organisations, and the states that it changes. Then warnings about imported records that will not work unchanged.',
        ),
      proved: z
        .boolean()
        .describe(
          'Whether the file has a manifest that matches its content. Manifests are not signed: they reveal damage, not tampering.',
        ),
      dryRun: z.literal(true).optional().describe('Present in a dry run: nothing was written.'),
      idsOmitted: z
        .literal(true)
        .optional()
        .describe('Present if the response lists no ids, because there are too many, or because `ids` was false.'),
      errorsOmitted: omitted.describe('The number of further errors, which `errors` does not list.'),
      warningsOmitted: omitted.describe('The number of further warnings, which `warnings` does not list.'),
      deletionsOmitted: omitted.describe('The number of further deletions, which `deletions` does not list.'),
    }),
    deletions: z
      .array(deletion)
      .optional()
      .describe('With `mirror`, the first 10,000 records of `summary.deleted`: users, members and grants first.'),
  })
  .meta({ id: 'ImportReport' });

export const openedUpload = z
  .strictObject({
    upload: z.strictObject({
      id: z.string().describe('The value of `data_orgs_upload`.'),
      uri: z
        .string()
        .describe(
          'The address of a resumable upload to Cloud Storage: send the file to this address. The upload needs no token.',
        ),
      expiresAt: z.iso.datetime().describe('When the address expires.'),
    }),
  })
  .meta({ id: 'OpenedUpload' });

export type OpenedUpload = z.output<typeof openedUpload>;

export const NDJSON = 'application/x-ndjson';

const lockHolder = z.strictObject({
  operation: z.string().describe('The operation that holds the lock of the instance, such as `import`.'),
  caller: z.string().describe('The id of the caller of this operation, or the account that runs the command.'),
  since: z.string().describe('When the operation acquired the lock; ISO 8601, UTC.'),
});

export const importEvent = z
  .discriminatedUnion('event', [
    z.strictObject({
      event: z.literal('progress'),
      phase: z
        .int()
        .positive()
        .describe('The current phase. Phase 1 writes the organisations; later phases write their records.'),
      phases: z.int().positive().describe('The number of phases.'),
      records: z.record(z.string(), count).describe('Numbers of records so far, by outcome and section.'),
      total: count.describe('Numbers of records to import, by section.'),
      waitingFor: lockHolder
        .optional()
        .describe('The operation that the import waits for before it writes. Absent unless the import waits.'),
      exceedsTimeout: z
        .strictObject({
          secondsNeeded: z
            .int()
            .positive()
            .describe(
              'The estimated time for the remaining records at the speed so far. Before the first measurement, the estimate uses the rate that the database recommends for new records.',
            ),
          secondsLeft: z.int().nonnegative().describe('The time until the timeout.'),
        })
        .optional()
        .describe(
          'Present if the timeout will probably interrupt the import. The first event with this field precedes the first write. Send the same request again to continue.',
        ),
    }),
    z.strictObject({ event: z.literal('result'), response: importResponse }),
    z.strictObject({ event: z.literal('error'), error: errorBody }),
  ])
  .meta({ id: 'ImportEvent' });

/** One line of a response with events. The last line is the result or the error. */
export type ImportEvent = z.output<typeof importEvent>;

export type ImportProgress = Omit<Extract<ImportEvent, { event: 'progress' }>, 'event'>;

export type ImportResponse = z.output<typeof importResponse>;

/** An entry of `errors` in the import response (see zitadel 5.7). */
export type ImportError = z.output<typeof importError>;

/**
 * A warning about the file or about an imported record. Without warnings, users would notice most problems only at
 * login.
 */
export type ImportWarning = z.output<typeof importWarning> & RecordWarning;

function successList({ entry }: NonNullable<Section['success']>): z.ZodType {
  if (Array.isArray(entry)) return z.array(z.string()).optional();
  const value = z.union([z.string(), z.array(z.string())]).optional();
  return z.array(z.strictObject(Object.fromEntries(Object.keys(entry).map((name) => [name, value])))).optional();
}

const inlineFile = z
  .union([
    importedFile,
    z.string().meta({
      contentMediaType: 'application/json',
      format: 'export-file',
      description: 'The text of an export file.',
    }),
  ])
  .optional();

/**
 * The inline fields, for the API's description only: the service streams a request and never validates it as a whole.
 */
const inlineFiles = requestMessage({ dataOrgs: inlineFile, dataOrgsv1: inlineFile });

const importOperation = (): OperationDescription => ({
  operationId: 'importOrganisations',
  tag: 'Organisations',
  summary: 'Import organisations',
  description: `Imports an export file from the request, from an upload or from Cloud Storage, or opens an upload. Requires the role IAM_OWNER. The whole file is validated before anything is written. Imports are idempotent: after an interruption, the same request resumes. An error after the first write contains a \`type.googleapis.com/identity.v1.ImportProgress\` in its \`details\`: \`written\` and \`total\` count records by section, and \`resumable\` is whether the same request continues the import. Field names are accepted in snake_case and camelCase. A body of the type \`${EXPORT_FILE}\` is the file alone, and the query contains the options; with other bodies, the query is ignored.`,
  query: Object.fromEntries(Object.entries(importOptions).map(([name, contract]) => [snakeCase(name), contract])),
  request: {
    schema: describeRequest(importRequest, oneSource()),
    others: { [EXPORT_FILE]: { type: 'string', format: 'binary', description: 'An export file.' } },
    examples: {
      'Try an import without writing': {
        dry_run: true,
        data_orgsv1: { orgs: [{ orgId: '163840776835432345', org: { name: 'Acme' } }] },
      },
      'Open an upload of a large file': { upload: { size: 150_000_000 } },
      'Import an upload': { data_orgs_upload: 'Jb3bUY0y1Qm0cVn0uYlX5w' },
    },
  },
  response: {
    description:
      'The outcome of every record, or the opened upload. With `Accept: application/x-ndjson`, the response is a stream of events, one JSON object per line: `progress` about once a second and at each phase, then `result` or `error`. An error before the first event has its usual status and body.',
    contract: z.union([importResponse, openedUpload]),
    others: { [NDJSON]: importEvent },
  },
  errors: {
    ...commonAdminErrors,
    400: 'Code 3: the request or the structure of the file is invalid: `details` lists up to 100 invalid fields. Code 9: `mirror` would delete more than `max_deleted`, or undo later changes. Nothing was written.',
    404: 'The object or the upload does not exist.',
    409: 'Code 6: with `on_conflict` `fail`, an organisation of the file exists. Code 10: other calls are changing the same records, or an organisation was removed during the request: send the request again. If the object was replaced during the import, first upload the same file again.',
    504: 'The timeout expired: send the request again to resume.',
  },
});

function oneSource(): JsonSchema {
  const { $defs = {}, properties = {} } = describeRequest(inlineFiles, {});
  const kinds = [
    ...Object.keys(properties).map((name): [string, JsonSchema['type']] => [name, ['object', 'string']]),
    ...bucketFields.map((name): [string, JsonSchema['type']] => [snakeCase(name), 'object']),
    ...uploadFields.map((name): [string, JsonSchema['type']] => [
      snakeCase(name),
      name === 'upload' ? 'object' : 'string',
    ]),
  ];
  const oneOf = kinds.map(([name, type = 'object']) => ({ required: [name], properties: { [name]: { type } } }));
  return { $defs, properties, oneOf };
}

/** `POST /admin/v1/import` (specification 4.3). */
export const importEndpoint = {
  method: 'POST',
  path: '/admin/v1/import',
  operation: importOperation,
} satisfies Endpoint;

const uploadDeletion = (): OperationDescription => ({
  operationId: 'deleteUpload',
  tag: 'Organisations',
  summary: 'Delete an upload',
  description:
    'Deletes a file that the caller has uploaded, before the file expires. An import does not delete its upload, so that the import can be repeated. Requires the role IAM_OWNER.',
  query: { upload: transferId.describe('The id of the upload.') },
  response: { description: 'The upload is deleted.', contract: z.strictObject({}) },
  errors: {
    ...commonErrors,
    400: 'The id is missing or malformed.',
    403: 'The caller does not hold the role IAM_OWNER, or another caller opened the upload.',
    404: 'No complete upload has this id: the upload is unfinished, was deleted, or has expired.',
  },
});

export const uploadDeletionEndpoint = {
  method: 'DELETE',
  path: importEndpoint.path,
  operation: uploadDeletion,
} satisfies Endpoint;

export const endpoints: readonly Endpoint[] = [importEndpoint, uploadDeletionEndpoint];
