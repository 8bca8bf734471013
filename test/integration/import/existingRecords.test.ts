import { describe, expect, it } from 'vitest';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';

const ada = person('U', { userName: 'ada' });
const project = (name: string) => ({ projectId: 'S', project: { name } });
const grant = (grantedOrgId: string) => ({ grantId: 'G', projectGrant: { projectId: 'S', grantedOrgId } });
const withPassword = (password: string) => person('U', { userName: 'ada', password });
const robot = { userId: 'U', user: { userName: 'robot', name: 'Robot' } };

/** Imports organisations one after the other, and returns the reasons of the errors of the last import. */
async function reasonsAfter(bodies: readonly object[]) {
  const { instance } = await countedInstance();
  let reasons: readonly object[] = [];
  for (const body of bodies) ({ reasons } = await instance.import(body));
  return reasons;
}

const fileOf = (orgs: readonly object[], options: object = {}) => ({ data_orgs: { orgs }, ...options });
const inO = (sections: object, options: object = {}) => fileOf([organisation('O', sections)], options);

describe('the error of an existing record', () => {
  it.each([
    ['names the field', { humanUsers: [ada] }, { humanUsers: [person('U', { userName: 'bob' })] }, 'user.userName'],
    ['names the field of a project', { projects: [project('Shop')] }, { projects: [project('Store')] }, 'project.name'],
    [
      'names a credential without its value',
      { humanUsers: [person('U', { userName: 'ada', hashedPassword: { value: '$2y$04$a' } })] },
      { humanUsers: [person('U', { userName: 'ada', hashedPassword: { value: '$2y$04$b' } })] },
      'user.hashedPassword.value',
    ],
    [
      'names a clear password',
      { humanUsers: [withPassword('Password-1')] },
      { humanUsers: [withPassword('Password-2')] },
      'user.password',
    ],
  ])('%s in which it differs', async (_, before, after, fields) => {
    expect(await reasonsAfter([inO(before), inO(after)])).toEqual([
      expect.objectContaining({ reason: 'record_exists', params: { fields } }),
    ]);
  });

  it('names the field of a domain policy', async () => {
    const policy = (validateOrgDomains: boolean) => ({ domainPolicy: { validateOrgDomains } });
    expect(await reasonsAfter([inO(policy(true)), inO(policy(false))])).toEqual([
      expect.objectContaining({ reason: 'domain_policy_exists', params: { fields: 'validateOrgDomains' } }),
    ]);
  });

  it.each(['report', 'skip', 'overwrite'])('names the organisation that has the id (%s)', async (on_conflict) => {
    const reasons = await reasonsAfter([
      inO({ humanUsers: [ada] }),
      fileOf([organisation('P', { humanUsers: [ada] })], { on_conflict }),
    ]);
    expect(reasons).toEqual([
      expect.objectContaining({ reason: 'id_taken', params: { holder: 'a person', owner: 'organisation O' } }),
    ]);
  });

  it.each(['report', 'skip', 'overwrite'])('names the other kind of record with the id (%s)', async (on_conflict) => {
    expect(await reasonsAfter([inO({ humanUsers: [ada] }), inO({ machineUsers: [robot] }, { on_conflict })])).toEqual([
      expect.objectContaining({ reason: 'id_of_other_kind', params: { holder: 'a person', owner: 'organisation O' } }),
    ]);
  });

  it.each(['report', 'overwrite'])('names the field that no import can change (%s)', async (on_conflict) => {
    const orgs = (grantedOrgId: string) => [
      organisation('O', { projects: [project('Shop')], projectGrants: [grant(grantedOrgId)] }),
      organisation('P'),
      organisation('Q'),
    ];
    expect(await reasonsAfter([fileOf(orgs('P')), fileOf(orgs('Q'), { on_conflict })])).toEqual([
      expect.objectContaining({ reason: 'field_fixed', params: { fields: 'projectGrant.grantedOrgId' } }),
    ]);
  });

  it('explains that an overwrite would keep a state which the file does not contain', async () => {
    const deactivated = { userId: 'U', user: { userName: 'robot', name: 'Robot' }, state: 'USER_STATE_INACTIVE' };
    const fromZitadel = (options: object) => inO({ machineUsers: [robot] }, options);
    const { instance } = await countedInstance();
    await instance.import(inO({ machineUsers: [deactivated] }));
    const reported = await instance.import(fromZitadel({}));
    expect(reported.reasons).toEqual([expect.objectContaining({ reason: 'state_kept', params: { fields: 'state' } })]);
    const { summary } = await instance.import(fromZitadel({ on_conflict: 'overwrite' }));
    expect(summary).toMatchObject({ unchanged: { machineUsers: 1 } });
  });

  it.each(['report', 'overwrite'])(
    "explains that an import keeps an organisation's state (%s)",
    async (on_conflict) => {
      const inactive = organisation('O', { orgState: 'ORG_STATE_INACTIVE' });
      const reasons = await reasonsAfter([inO({ orgState: 'ORG_STATE_ACTIVE' }), fileOf([inactive], { on_conflict })]);
      expect(reasons).toEqual([expect.objectContaining({ reason: 'organisation_state_kept' })]);
    },
  );

  it('does not advise an overwrite that restores a removed factor without saying so', async () => {
    const { instance } = await countedInstance();
    const withFactor = { humanUsers: [{ ...ada, otpEmail: true }] };
    await instance.import(inO(withFactor));
    await instance.import(inO({ humanUsers: [{ ...ada, otpEmail: false }] }, { on_conflict: 'overwrite' }));
    const reported = await instance.import(inO(withFactor));
    expect(reported.reasons).toEqual([
      expect.objectContaining({ reason: 'factor_removed', params: { fields: 'otpEmail' } }),
    ]);
    const kept = await instance.import(inO(withFactor, { on_conflict: 'skip' }));
    expect(kept).toMatchObject({ summary: { skipped: { humanUsers: 1 } } });
    const restored = await instance.import(inO(withFactor, { on_conflict: 'overwrite' }));
    expect(restored.summary).toMatchObject({ overwritten: { humanUsers: 1 } });
  });
});
