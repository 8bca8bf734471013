import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { exportRequest } from '../../../functions/export/contract.ts';
import { importRequest } from '../../../functions/import/contract.ts';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import { readRequest, requestMessage, snakeCase } from '../../../shared/wire/requestMessage.ts';

const message = requestMessage({
  orgIds: z.array(z.string()).default([]),
  withOtp: z.boolean().default(false),
  timeout: z.string().optional(),
  gcsOutput: requestMessage({ path: z.string().default(''), serviceaccountJson: z.string().default('') }).optional(),
});

/** The faults that a request is refused for, as `field: description`. */
function faultsOf(schema: z.ZodType, value: unknown): string[] {
  try {
    readRequest(schema, value);
  } catch (error) {
    if (!(error instanceof IdentityError)) throw error;
    expect(error.httpStatus).toBe(400);
    return violations
      .parse(error.details[0])
      .fieldViolations.map(({ field, description }) => `${field}: ${description}`);
  }
  return [];
}

const violations = z.object({ fieldViolations: z.array(z.object({ field: z.string(), description: z.string() })) });

describe('a request message', () => {
  const expected = {
    orgIds: ['1'],
    withOtp: true,
    timeout: '30s',
    gcsOutput: { path: 'a.json', serviceaccountJson: 'e30=' },
  };

  it('is read in camelCase, in snake_case, and in both mixed', () => {
    const inSnakeCase = {
      org_ids: ['1'],
      with_otp: true,
      timeout: '30s',
      gcs_output: { path: 'a.json', serviceaccount_json: 'e30=' },
    };
    const mixed = { org_ids: ['1'], withOtp: true, timeout: '30s', gcsOutput: inSnakeCase.gcs_output };
    for (const request of [expected, inSnakeCase, mixed]) expect(readRequest(message, request)).toEqual(expected);
  });

  it('has its defaults where a field is missing or null', () => {
    const defaults = { orgIds: [], withOtp: false };
    expect(readRequest(message, {})).toEqual(defaults);
    expect(readRequest(message, { org_ids: null, withOtp: null, timeout: null, gcs_output: null })).toEqual(defaults);
  });

  it('drops fields that it does not know, also inside, and names that JavaScript knows', () => {
    const request = JSON.parse(
      '{"unknown":1,"Timeout":2,"constructor":3,"__proto__":{"timeout":4},"gcs_output":{"x":1}}',
    );
    expect(readRequest(message, request)).toEqual({
      orgIds: [],
      withOtp: false,
      gcsOutput: { path: '', serviceaccountJson: '' },
    });
  });

  it('refuses a field in both spellings, wherever it stands', () => {
    expect(faultsOf(message, { org_ids: [], orgIds: [] })).toEqual([': duplicate field "orgIds"']);
    expect(faultsOf(message, { gcsOutput: { serviceaccountJson: '', serviceaccount_json: '' } })).toEqual([
      'gcs_output: duplicate field "serviceaccount_json"',
    ]);
  });

  it('may have one spelling null beside the other', () => {
    expect(readRequest(message, { org_ids: null, orgIds: ['1'] }).orgIds).toEqual(['1']);
  });

  it('names every fault with its path in the spelling of the interface', () => {
    const request = { orgIds: ['1', 2, {}], withOtp: 'yes', timeout: 30, gcsOutput: { serviceaccountJson: [] } };
    expect(faultsOf(message, request).map((fault) => fault.split(':')[0])).toEqual([
      'org_ids[1]',
      'org_ids[2]',
      'with_otp',
      'timeout',
      'gcs_output.serviceaccount_json',
    ]);
  });

  it.each([null, undefined, 1, 'x', true, []])('is refused as a whole when it is %j', (value) => {
    expect(faultsOf(message, value)).toEqual([': the request body must be a JSON object']);
  });
});

describe('the export request', () => {
  it('has the fields of the interface, all of them optional', () => {
    expect(readRequest(exportRequest, {})).toEqual({
      orgIds: [],
      excludedOrgIds: [],
      withPasswords: false,
      withOtp: false,
      withKeys: false,
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
  ])('is refused for a wrong %s', (field, request) => {
    expect(faultsOf(exportRequest, request)[0]).toMatch(new RegExp(`^${field}: `));
  });
});

describe('the import request', () => {
  it('has both names of a bucket, in both spellings', () => {
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

describe("a field's name in the interface", () => {
  it.each([
    ['dataOrgsv1Gcs', 'data_orgsv1_gcs'],
    ['serviceaccountJson', 'serviceaccount_json'],
    ['excludedOrgIds', 'excluded_org_ids'],
    ['path', 'path'],
  ])('of %s is %s', (name, expected) => {
    expect(snakeCase(name)).toBe(expected);
  });
});
