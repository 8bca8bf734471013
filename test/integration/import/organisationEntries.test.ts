import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { countedInstance, type TestInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { violationsOf } from '../../support/stores/invariants.ts';

const details = z.array(
  z.looseObject({ fieldViolations: z.array(z.object({ field: z.string(), description: z.string() })).default([]) }),
);

/** Imports, expects a 400, and returns the violations. */
async function violationsOfImport(instance: TestInstance, ...orgs: object[]) {
  const { status, body } = await instance.refusedImport({ data_orgs: { orgs } });
  expect(status).toBe(400);
  return details.parse(body.details).flatMap(({ fieldViolations }) => fieldViolations);
}

const named = { orgId: 'O', org: { name: 'Acme' } };
const byDomain = { userLoginMustBeDomain: true, orgId: 'O' };

describe('an organisation in several entries of a file', () => {
  it('is one organisation: equal entries are no error, and success lists it once', async () => {
    const { instance } = await countedInstance();
    const orgs = [{ ...named, humanUsers: [person('A')] }, organisation('P'), { ...named, humanUsers: [person('B')] }];
    const { errors, success, summary } = await instance.import({ data_orgs: { orgs } });
    expect(errors).toBeUndefined();
    expect(success.orgs).toEqual([{ orgId: 'O', humanUserIds: ['A', 'B'] }, { orgId: 'P' }]);
    expect(summary.created).toEqual({ org: 2, humanUsers: 3 - 1 });
  });

  it('has the name and the state of the entry that contains them', async () => {
    const { instance } = await countedInstance();
    const orgs = [
      { orgId: 'O', humanUsers: [person('A')], orgState: 'ORG_STATE_INACTIVE' },
      { orgId: 'O', org: { name: 'Acme' } },
    ];
    const { errors, summary } = await instance.import({ data_orgs: { orgs } });
    expect({ errors, ...summary }).toMatchObject({
      errors: undefined,
      created: { org: 1, humanUsers: 1 },
      notCarried: {},
    });
    expect((await instance.export()).orgs).toMatchObject([{ orgId: 'O', orgState: 'ORG_STATE_INACTIVE' }]);
  });

  it('has the domain policy of the entry that contains it, before or after its users', async () => {
    const { instance, store } = await countedInstance();
    const users = (userId: string) => ({ orgId: 'O', humanUsers: [person(userId, { userName: 'alice' })] });
    const orgs = [organisation('P', users('C')), users('A'), { ...named, domainPolicy: byDomain }, users('B')];
    orgs[0] = { ...organisation('P'), humanUsers: [person('C', { userName: 'alice' })] };
    const { errors } = await instance.import({ data_orgs: { orgs } });
    expect(errors?.map(({ id }) => id)).toEqual(['B']);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('has the password policy and the lists of a v1 login policy of the entries that contain them', async () => {
    const { instance } = await countedInstance();
    const orgs = [
      {
        orgId: 'O',
        humanUsers: [person('A', { password: 'weak' })],
        secondFactors: [{ type: 'SECOND_FACTOR_TYPE_OTP' }],
      },
      { ...named, passwordComplexityPolicy: { minLength: 4 }, loginPolicy: { allowRegister: true } },
    ];
    const { errors, summary } = await instance.import({ data_orgsv1: { orgs } });
    expect({ errors, notCarried: summary.notCarried }).toEqual({ errors: undefined, notCarried: {} });
    expect((await instance.export()).orgs).toMatchObject([
      { loginPolicy: { secondFactors: ['SECOND_FACTOR_TYPE_OTP'] } },
    ]);
  });

  it('has the last primary domain of all entries', async () => {
    const { instance } = await countedInstance();
    const withDomain = (domainName: string) => ({ ...named, domains: [{ domainName, isPrimary: true }] });
    const orgs = ['z.example', 'm.example', 'a.example'].map(withDomain);
    const { errors } = await instance.import({ data_orgs: { orgs } });
    expect(errors).toBeUndefined();
    const domains = expect.arrayContaining([
      { orgId: 'O', domainName: 'z.example' },
      { orgId: 'O', domainName: 'm.example' },
      { orgId: 'O', domainName: 'a.example', isPrimary: true },
    ]);
    expect((await instance.export()).orgs).toMatchObject([{ domains }]);
  });

  it('may repeat a policy with equal content, which counts as unchanged', async () => {
    const { instance, store } = await countedInstance();
    const policy = { ...named, iamPolicy: byDomain, domainPolicy: byDomain };
    const { errors, summary } = await instance.import({
      data_orgs: { orgs: [policy, { ...named, domainPolicy: byDomain }] },
    });
    expect({ errors, created: summary.created, unchanged: summary.unchanged }).toEqual({
      errors: undefined,
      created: { org: 1, domainPolicy: 1 },
      unchanged: { domainPolicy: 2 },
    });
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });
});

// Contradictions are found before the first read from the store.
describe('entries of a file that contradict each other about an organisation', () => {
  it.each<[string, object, object, string, string]>([
    ['its name', { org: { name: 'Other' } }, {}, 'orgs[1].org', 'orgs[0].org'],
    [
      'its state',
      { orgState: 'ORG_STATE_INACTIVE' },
      { orgState: 'ORG_STATE_ACTIVE' },
      'orgs[1].orgState',
      'orgs[0].orgState',
    ],
    [
      'the lists of its login policy',
      { secondFactors: [] as object[], idps: [{ idpId: 'x', ownerType: 1 }] },
      { idps: [{ idpId: 'y', ownerType: 1 }] },
      'orgs[1].idps',
      'orgs[0].idps',
    ],
  ])('are rejected with 400 and both places: %s', async (_what, second, first, field, other) => {
    const { instance, writesOf } = await countedInstance();
    const { result, writes } = await writesOf(() =>
      violationsOfImport(instance, { ...named, ...first }, { ...named, ...second }),
    );
    expect(result).toEqual([{ field, description: expect.stringContaining(other) }]);
    expect(writes).toBe(0);
  });

  it('are rejected with 400 if the id comes last', async () => {
    const { instance } = await countedInstance();
    const late = { org: { name: 'Other' }, orgId: 'O' };
    expect(await violationsOfImport(instance, named, late)).toHaveLength(1);
  });
});

describe('policies of an organisation that differ within a file', () => {
  const refused = {
    type: 'domain_policy',
    id: 'O',
    message: 'ID=ORG-1M8ds Message=Errors.Org.DomainPolicy.AlreadyExists',
  };
  const lockout = { type: 'lockout_policy', message: 'ID=ORG-0olDf Message=Errors.ORG.LockoutPolicy.AlreadyExists' };

  it.each(
    ['report', 'skip', 'overwrite'].flatMap((on_conflict) => [
      {
        on_conflict,
        what: 'domain policies of two entries',
        orgs: [
          { ...named, domainPolicy: byDomain },
          { ...named, domainPolicy: { orgId: 'O' } },
        ],
        error: refused,
        kept: { domainPolicy: { userLoginMustBeDomain: true } },
      },
      {
        on_conflict,
        what: 'policies of both generations in one entry, whose id comes last',
        orgs: [{ iamPolicy: byDomain, domainPolicy: { orgId: 'O' }, org: named.org, orgId: 'O' }],
        error: refused,
        kept: { domainPolicy: { userLoginMustBeDomain: true } },
      },
      {
        on_conflict,
        what: 'lockout policies',
        orgs: [
          { ...named, lockoutPolicy: { maxPasswordAttempts: 3 } },
          { ...named, lockoutPolicy: {} },
        ],
        error: lockout,
        kept: { lockoutPolicy: { maxPasswordAttempts: 3 } },
      },
    ]),
  )('are errors except the first, in each import ($on_conflict): $what', async ({ on_conflict, orgs, error, kept }) => {
    const { instance, writesOf } = await countedInstance();
    const body = { data_orgs: { orgs }, on_conflict };
    const first = await instance.import(body);
    expect(first.errors).toMatchObject([error]);
    for (const _repetition of [2, 3]) {
      const { result, writes } = await writesOf(() => instance.import(body));
      expect({ errors: result.errors, writes }).toMatchObject({ errors: [error], writes: 0 });
    }
    expect((await instance.export()).orgs).toMatchObject([kept]);
  });

  it('are errors even if the stored one equals the second, which an overwrite replaces by the first', async () => {
    const { instance } = await countedInstance();
    const policy = (maxPasswordAttempts: number) => ({ ...named, lockoutPolicy: { maxPasswordAttempts } });
    await instance.import({ data_orgs: { orgs: [policy(2)] } });
    const body = { data_orgs: { orgs: [policy(1), policy(2)] }, on_conflict: 'overwrite' };
    for (const _repetition of [1, 2]) expect((await instance.import(body)).errors).toMatchObject([lockout]);
    expect((await instance.export()).orgs).toMatchObject([{ lockoutPolicy: { maxPasswordAttempts: 1 } }]);
  });
});
