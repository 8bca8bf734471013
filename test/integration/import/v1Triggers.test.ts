import { describe, expect, it } from 'vitest';
import { organisation } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const action = { actionId: 'A', action: { name: 'A', script: 'function A() {}', timeout: '1s' } };
const org = (actionId: string) =>
  organisation('O', {
    actions: [action],
    triggerActions: [
      {
        flowType: 'FLOW_TYPE_EXTERNAL_AUTHENTICATION',
        triggerType: 'TRIGGER_TYPE_POST_CREATION',
        actionIds: [actionId],
      },
    ],
  });

describe('a trigger action with its flow and trigger', () => {
  const importAs = async (field: string, actionId: string) => {
    const instance = await testInstance(await openTestStore(sqlite));
    return instance.import({ [field]: { orgs: [org(actionId)] } });
  };

  it.each([
    ['data_orgs', 'FLOW_TYPE_EXTERNAL_AUTHENTICATION', 'TRIGGER_TYPE_POST_CREATION'],
    ['data_orgsv1', '1', '3'],
  ])('is reported as in ZITADEL: %s', async (field, flowType, triggerType) => {
    const { success } = await importAs(field, 'A');
    expect(success.orgs).toMatchObject([{ triggerActions: [{ flowType, triggerType, actionIds: ['A'] }] }]);
    const { errors } = await importAs(field, 'none');
    expect(errors).toMatchObject([{ type: 'trigger_action', id: `${flowType}_${triggerType}` }]);
  });
});
