import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { person } from '../../support/fixtures/organisations.ts';
import { countedInstance, type TestInstance } from '../../support/instances/testInstance.ts';

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

describe('an organisation in several entries of a file', () => {
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
