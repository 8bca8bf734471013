import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { snakeCase } from '../../../shared/json/spelling.ts';
import { describeRequest, readRequest, requestMessage, unsupportedField } from '../../../shared/wire/requestMessage.ts';
import { requestFaults } from '../../support/fixtures/requestFaults.ts';

const message = requestMessage({
  orgIds: z.array(z.string()).default([]),
  withOtp: z.boolean().default(false),
  timeout: z.string().optional(),
  gcsOutput: requestMessage({ path: z.string().default(''), serviceaccountJson: z.string().default('') }).optional(),
});

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

  it('has its defaults if a field is missing or null', () => {
    const defaults = { orgIds: [], withOtp: false };
    expect(readRequest(message, {})).toEqual(defaults);
    expect(readRequest(message, { org_ids: null, withOtp: null, timeout: null, gcs_output: null })).toEqual(defaults);
  });

  it("drops unknown fields, including nested ones, and names of JavaScript's own properties", () => {
    const request = JSON.parse(
      '{"unknown":1,"Timeout":2,"constructor":3,"__proto__":{"timeout":4},"gcs_output":{"x":1}}',
    );
    expect(readRequest(message, request)).toEqual({
      orgIds: [],
      withOtp: false,
      gcsOutput: { path: '', serviceaccountJson: '' },
    });
  });

  it('rejects a field in both spellings, at any depth', () => {
    expect(requestFaults(message, { org_ids: [], orgIds: [] })).toEqual([': duplicate field "orgIds"']);
    expect(requestFaults(message, { gcsOutput: { serviceaccountJson: '', serviceaccount_json: '' } })).toEqual([
      'gcs_output: duplicate field "serviceaccount_json"',
    ]);
  });

  it('may have one spelling null beside the other', () => {
    expect(readRequest(message, { org_ids: null, orgIds: ['1'] }).orgIds).toEqual(['1']);
  });

  it('is rejected with every violation and its path in the spelling of the interface', () => {
    const request = { orgIds: ['1', 2, {}], withOtp: 'yes', timeout: 30, gcsOutput: { serviceaccountJson: [] } };
    expect(requestFaults(message, request).map((fault) => fault.split(':')[0])).toEqual([
      'org_ids[1]',
      'org_ids[2]',
      'with_otp',
      'timeout',
      'gcs_output.serviceaccount_json',
    ]);
  });

  it.each([null, undefined, 1, 'x', true, []])('is rejected as a whole when it is %j', (value) => {
    expect(requestFaults(message, value)).toEqual([': the request body must be a JSON object']);
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

describe('the description of a request', () => {
  const message = requestMessage({
    dryRun: z.boolean().default(false),
    onConflict: z.enum(['report', 'skip']).default('report'),
    inner: requestMessage({ someText: z.string().default('') })
      .meta({ required: ['someText'] })
      .optional(),
    localOutput: unsupportedField,
  });
  const schema = describeRequest(message, { properties: { more: {} }, anyOf: [{ required: ['more'] }] });

  it('has the names of the interface', () => {
    expect(Object.keys(schema.properties ?? {})).toEqual(['dry_run', 'on_conflict', 'inner', 'more']);
  });

  it('has null for every field that may be omitted', () => {
    expect(schema.properties).toMatchObject({
      dry_run: { type: ['boolean', 'null'], default: false },
      on_conflict: { enum: ['report', 'skip', null] },
      inner: { type: ['object', 'null'] },
    });
  });

  it('has required fields without a default', () => {
    expect(schema.properties?.inner).toMatchObject({
      required: ['some_text'],
      properties: { some_text: { type: 'string' } },
    });
    expect(JSON.stringify(schema.properties?.inner)).not.toContain('default');
  });

  it('has the alternatives of required fields', () => {
    expect(schema.anyOf).toEqual([{ required: ['more'] }]);
  });
});
