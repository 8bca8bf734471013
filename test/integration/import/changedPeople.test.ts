import { describe, expect, it } from 'vitest';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { report } from '../../support/fixtures/reports.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';

async function importReport(name: string) {
  const { instance } = await countedInstance();
  return await instance.import({ data_orgs: JSON.parse((await report(name)).toString()) });
}

const initial = (people: number) =>
  expect.objectContaining({
    type: 'state',
    reason: 'people_initial',
    message: expect.stringMatching(new RegExp(`^people who become initial: ${people}; the file has no state for them`)),
  });

describe('an import', () => {
  it('warns of the number of people who become initial because their addresses are unverified', async () => {
    const { errors, summary } = await importReport('initial-silently.json');
    expect(errors).toBeUndefined();
    expect(summary.warnings).toContainEqual(initial(2));
  });

  it('counts only people without a state, and of selected organisations', async () => {
    const { instance } = await countedInstance();
    const unverified = (id: string) => {
      const { state: _, ...stateless } = { state: undefined, ...person(id, { email: { email: `${id}@a.example` } }) };
      return stateless;
    };
    const orgs = [
      organisation('O', { humanUsers: [unverified('A'), { ...unverified('B'), state: 'USER_STATE_INITIAL' }] }),
      organisation('P', { humanUsers: [unverified('C')] }),
    ];
    const { summary } = await instance.import({ data_orgs: { orgs }, org_ids: ['O'] });
    expect(summary.warnings).toContainEqual(initial(1));
  });

  it('warns of the extension of a phone number, which it drops', async () => {
    const { errors, summary } = await importReport('phone-extension.json');
    expect(errors).toBeUndefined();
    expect(summary.warnings).toContainEqual(
      expect.objectContaining({
        id: 'x19a',
        reason: 'value_dropped',
        message: 'imported without "ext. 12" of user.phone, which is not valid there',
      }),
    );
  });
});
