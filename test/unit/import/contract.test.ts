import { describe, expect, it } from 'vitest';
import { importRequest, importResponse } from '../../../functions/import/contract.ts';
import { readRequest } from '../../../shared/wire/requestMessage.ts';

describe('the import request', () => {
  it('accepts both names of a bucket, in both spellings', () => {
    const gcs = { path: 'a', bucket: 'b', serviceaccount_json: 'c' };
    const read = { path: 'a', bucket: 'b', serviceaccountJson: 'c' };
    expect(readRequest(importRequest, { data_orgsv1_gcs: gcs, dataOrgsGcs: gcs })).toMatchObject({
      dataOrgsv1Gcs: read,
      dataOrgsGcs: read,
    });
    expect(readRequest(importRequest, { dataOrgsv1Gcs: gcs, data_orgs_gcs: gcs })).toMatchObject({
      dataOrgsv1Gcs: read,
      dataOrgsGcs: read,
    });
  });
});

it('a response with the reasons of another version is accepted', () => {
  const counts = { created: {}, unchanged: {}, failed: {}, notCarried: {} };
  const accepts = (issue: object) =>
    importResponse.safeParse({ errors: [issue], success: {}, summary: { ...counts, warnings: [issue], proved: true } })
      .success;
  const issue = { type: 'human_user', id: 'ada', message: 'reworded' };
  expect(accepts({ ...issue, reason: 'another', params: { field: 'userId' } })).toBe(true);
  expect(accepts(issue)).toBe(true);
});
