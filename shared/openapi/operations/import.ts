import { importAnswer } from '../../contract/importAnswer.ts';
import { bucketFields, importRequest } from '../../contract/importRequest.ts';
import { inlineDocuments } from '../../contract/inlineDocuments.ts';
import { describeRequest } from '../../contract/requestDescription.ts';
import { snakeCase } from '../../contract/requestMessage.ts';
import type { Operation } from '../endpoint.ts';
import type { JsonSchema } from '../jsonSchema.ts';
import { commonAdminErrors } from './commonErrors.ts';

/** What `POST /admin/v1/import` takes and answers (interface 4.3). */
export const importOperation: Operation = {
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
  response: { description: 'What became of every record.', contract: importAnswer },
  errors: {
    ...commonAdminErrors,
    400: 'The request or the file is wrong: `details` names every field that is. Nothing was written.',
    404: 'There is no such object.',
    409: 'The object was replaced while it was read, or others changed the same records: send the request again.',
    504: 'The time is over: `details` says how far the import came. Sent again, it goes on from there.',
  },
};

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
