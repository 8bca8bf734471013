import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { organisation, person, unproved } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const count = z.record(z.string(), z.number()).default({});
const counts = z.object({
  created: count,
  unchanged: count,
  overwritten: count,
  skipped: count,
  failed: count,
  notCarried: count,
});
const listed = z.looseObject({ warnings: z.array(z.unknown()) });

const sum = (counts: Readonly<Record<string, Record<string, number>>>, section: string) =>
  Object.values(counts).reduce((total, { [section]: count = 0 }) => total + count, 0);

describe('the counts of organisations', () => {
  it.each(['report', 'skip', 'overwrite'])('add up to the organisations of the file (%s)', async (on_conflict) => {
    const instance = await testInstance(await openTestStore(sqlite));
    await instance.import({ dataOrgs: { orgs: [organisation('A'), organisation('B'), organisation('C')] } });
    const orgs = [
      organisation('A'),
      { orgId: 'B' },
      { orgId: 'C', org: { name: 'another' } },
      organisation('D'),
      { orgId: 'E' },
      { orgId: '', org: { name: 'nameless' } },
      { orgId: 'F', org: { name: 'Organisation A' } },
      { orgId: 'B', humanUsers: [person('U')] },
    ];
    const { summary } = await instance.import({ dataOrgs: { orgs }, on_conflict });
    const ids = new Set(orgs.map(({ orgId }) => orgId));
    expect(sum(counts.parse(summary), 'org'), JSON.stringify(summary)).toBe(ids.size);
    expect(summary.unchanged.org).toBe(2);
  });
});

describe('the lists of v1 files beside the login policy', () => {
  const secondFactors = [{ type: 'SECOND_FACTOR_TYPE_OTP' }, { type: 2 }];
  const lists = { secondFactors, multiFactors: [{ type: 1 }], idps: [{ idpId: 'i', ownerType: 'IDP_OWNER_TYPE_ORG' }] };
  const loginPolicy = { allowUsernamePassword: true, passwordlessType: 'PASSWORDLESS_TYPE_ALLOWED' };

  it.each<[string, object[], object]>([
    ['unless the file has the policy', [organisation('A', { secondFactors, loginPolicy })], {}],
    ['unless the policy comes first', [organisation('A', { loginPolicy, secondFactors })], {}],
    ['unless they are empty', [organisation('A', { secondFactors: [] })], {}],
    ['if there is no policy', [organisation('A', lists)], { secondFactors: 2, multiFactors: 1, idps: 1 }],
    [
      'if another organisation has the policy',
      [organisation('A', { secondFactors }), organisation('B', { loginPolicy })],
      { secondFactors: 2 },
    ],
  ])('are counted as not carried %s', async (_when, orgs, notCarried) => {
    const instance = await testInstance(await openTestStore(sqlite));
    const { summary } = await instance.import({ dataOrgsv1: { orgs } });
    expect(summary.notCarried).toEqual(notCarried);
  });
});

it('a state of an organisation without its record counts as not carried', async () => {
  const instance = await testInstance(await openTestStore(sqlite));
  await instance.import({ dataOrgs: { orgs: [organisation('A')] } });
  const orgs = [{ orgId: 'A', orgState: 'ORG_STATE_INACTIVE' }];
  expect((await instance.import({ dataOrgs: { orgs } })).summary.notCarried).toEqual({ orgState: 1 });
});

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

describe('an id of more than 200 characters', () => {
  const long = (length: number) => '😀'.repeat(length);

  it('fails an organisation', async () => {
    const withId = (id: string) => ({ orgId: id, org: { name: 'A' } });
    const instance = await testInstance(await openTestStore(sqlite));
    const { errors } = await instance.import({ dataOrgs: { orgs: [withId(long(201))] } });
    expect(errors).toMatchObject([{ type: 'org', message: expect.stringContaining('orgId: value length') }]);
    expect((await instance.export()).orgs).toEqual([]);
    await instance.import({ dataOrgs: { orgs: [withId(long(200))] } });
    expect((await instance.export()).orgs).toHaveLength(1);
  });

  it('fails an organisation with its records, which come first in the file', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const orgs = [{ humanUsers: [person('U')], orgId: 'A'.repeat(2_000), org: { name: 'A' } }];
    const { summary } = await instance.import({ dataOrgs: { orgs } });
    expect(summary).toMatchObject({ created: {}, failed: { org: 1, humanUsers: 1 } });
  });
});
