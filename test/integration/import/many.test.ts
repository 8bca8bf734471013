import { describe, expect, it } from 'vitest';
import { comparable } from '../../support/fixtures/comparable.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';

describe('an import of large records', () => {
  it('writes records that no single commit could hold together, whichever field is large', async () => {
    const instance = await testInstance(await openTestStore());
    const large = (index: number) => `${index}${'漢'.repeat(21_000)}`;
    const org = {
      ...organisation('large'),
      humanUsers: Array.from({ length: 100 }, (_, index) => ({
        ...person(`P${index}`, { otpCode: large(index) }),
        state: 'USER_STATE_ACTIVE',
      })),
      userMetadata: Array.from({ length: 20 }, (_, index) => ({
        id: `P${index}`,
        key: 'large',
        value: Buffer.alloc(300_000, index).toString('base64'),
      })),
      orgState: 'ORG_STATE_ACTIVE',
    };
    expect((await instance.import({ dataOrgs: { orgs: [org] } })).errors).toBeUndefined();
    expect(comparable((await instance.export()).orgs)).toEqual(comparable([org]));
  });

  it('lists a record that is larger than the store can hold, and imports the others', async () => {
    const instance = await testInstance(await openTestStore());
    const actions = ['x'.repeat(1_000_001), 'y'].map((script, at) => ({
      actionId: `A${at}`,
      action: { name: `a${at}`, script },
    }));
    const { errors, summary } = await instance.import({ dataOrgs: { orgs: [organisation('O', { actions })] } });
    const message = 'ID=IMPORT-tooLong Message=the record exceeds 1000000 bytes; orgs[0].actions[0]';
    expect(errors).toMatchObject([{ type: 'action', message }]);
    expect(summary).toMatchObject({ created: { org: 1, actions: 1 }, failed: { actions: 1 } });
  });
});
