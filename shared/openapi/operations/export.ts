import { exportAnswer } from '../../contract/exportAnswer.ts';
import { exportRequest } from '../../contract/exportRequest.ts';
import { describeRequest } from '../../contract/requestDescription.ts';
import type { Operation } from '../endpoint.ts';
import type { JsonSchema } from '../jsonSchema.ts';
import { commonAdminErrors } from './commonErrors.ts';

const anOutput: JsonSchema = {
  anyOf: [
    { required: ['response_output'], properties: { response_output: { const: true } } },
    { required: ['gcs_output'], properties: { gcs_output: { type: 'object' } } },
  ],
};

/** What `POST /admin/v1/export` takes and answers (interface 4.2). */
export const exportOperation: Operation = {
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
    contract: exportAnswer,
  },
  errors: {
    ...commonAdminErrors,
    400: 'The request is wrong: `details` names every field that is. Or the export is larger than an answer can be: then give `gcs_output`.',
    409: 'The object is there already.',
  },
};
