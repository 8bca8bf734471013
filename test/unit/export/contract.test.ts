import { describe, expect, it } from 'vitest';
import { exportRequest } from '../../../functions/export/contract.ts';
import { readRequest } from '../../../shared/wire/requestMessage.ts';
import { requestFaults } from '../../support/fixtures/requestFaults.ts';

describe('the export request', () => {
  it('has the fields of the interface, all of them optional', () => {
    expect(readRequest(exportRequest, {})).toEqual({
      orgIds: [],
      excludedOrgIds: [],
      withPasswords: false,
      withOtp: false,
      withKeys: false,
      orgsOnly: false,
      forZitadel: false,
      responseOutput: false,
    });
  });

  it("is read from the guide's example", () => {
    const request = readRequest(exportRequest, {
      org_ids: [],
      excluded_org_ids: ['2'],
      with_passwords: true,
      with_otp: true,
      timeout: '30s',
      response_output: true,
      gcs_output: { path: 'export.json', bucket: 'caos-zitadel-exports', serviceaccount_json: 'XXXX' },
    });
    expect(request).toEqual({
      orgIds: [],
      excludedOrgIds: ['2'],
      withPasswords: true,
      withOtp: true,
      withKeys: false,
      orgsOnly: false,
      forZitadel: false,
      timeout: '30s',
      responseOutput: true,
      gcsOutput: { path: 'export.json', bucket: 'caos-zitadel-exports', serviceaccountJson: 'XXXX' },
    });
  });

  it.each([
    ['with_passwords', { with_passwords: 'true' }],
    ['timeout', { timeout: 30 }],
    ['org_ids', { org_ids: '1' }],
    ['gcs_output', { gcs_output: 'bucket' }],
    ['gcs_output.bucket', { gcs_output: { bucket: 1 } }],
  ])('is rejected for a wrong %s', (field, request) => {
    expect(requestFaults(exportRequest, request)[0]).toMatch(new RegExp(`^${field}: `));
  });
});
