import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { organisation, person, unproved } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const listed = z.looseObject({ warnings: z.array(z.unknown()) });

describe('errors and warnings', () => {
  it('are listed up to 10,000 of each, and the rest is counted', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const humanUsers = Array.from({ length: 10_002 }, (_, index) => ({
      ...person(`U${index}`, { hashedPassword: { value: 'unknown' } }),
      state: 'USER_STATE_ACTIVE',
    }));
    const userMetadata = Array.from({ length: 10_003 }, (_, index) => ({
      id: 'missing',
      key: `${index}`,
      value: 'eA==',
    }));
    const org = organisation('O', { humanUsers, userMetadata });
    const { errors, summary } = await instance.import({ dataOrgs: { orgs: [org] } });
    const { warnings } = listed.parse(summary);
    expect([errors?.length, warnings.length]).toEqual([10_000, 10_001]);
    expect(warnings.filter((warning) => isDeepStrictEqual(warning, unproved))).toHaveLength(1);
    expect(summary).toMatchObject({ errorsOmitted: 3, warningsOmitted: 2, failed: { userMetadata: 10_003 } });
  });
});

describe('an integer of 64 bits in a file', () => {
  it.each([
    ['9007199254740993', /orgs\[0\]\.passwordComplexityPolicy\.minLength: the number is above/],
    ['9007199254740992', /orgs\[0\]\.passwordComplexityPolicy\.minLength: the number is above/],
    ['1e400', /orgs\[0\]\.passwordComplexityPolicy\.minLength: the number is above/],
    // Read unchanged, and too long for a password.
    ['9007199254740991', /MODEL-Lsp0e/],
    ['"9007199254740993"', /MODEL-Lsp0e/],
    ['8', /"created":\{"org":1,"passwordComplexityPolicy":1\}/],
  ])('fails its record above 2^53 as a number, with its place: %s', async (literal, message) => {
    const instance = await testInstance(await openTestStore(sqlite));
    const file = `{"orgs":[{"orgId":"A","org":{"name":"A"},"passwordComplexityPolicy":{"min_length":${literal}}}]}`;
    const { status, text } = await instance.attempt('import', `{"dataOrgs":${file}}`);
    expect(status, text).toBe(200);
    expect(text).toMatch(message);
  });

  it('is ignored above 2^53 in an unknown field', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const file = '{"orgs":[{"orgId":"A","org":{"name":"A","other":9007199254740993},"more":9007199254740993}]}';
    const { status, text } = await instance.attempt('import', `{"dataOrgs":${file}}`);
    expect(status, text).toBe(200);
  });
});
