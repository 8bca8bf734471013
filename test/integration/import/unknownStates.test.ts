import { describe, expect, it } from 'vitest';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const humanUsers = [person('ada'), person('bob')];
const counts = 'organisations: 1, people: 2, service users: 0';
const warning = {
  type: 'state',
  reason: 'states_unknown',
  message: `unknown states: the file lacks states of records (${counts}); each counts as active, or as initial, even if it is deactivated or locked at the source: deactivate it in the target`,
};

describe('an import', () => {
  it.each(['data_orgs', 'data_orgsv1'])('warns of %s without states, in a dry run too', async (source) => {
    const instance = await testInstance(await openTestStore(sqlite));
    const request = { [source]: { orgs: [{ orgId: 'acme', org: { name: 'Acme' }, humanUsers }] } };
    for (const dry_run of [true, false]) {
      const { summary } = await instance.import({ ...request, dry_run });
      expect(summary.warnings).toContainEqual(warning);
    }
  });

  it('does not warn of a file with states, nor of its own export', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const stated = humanUsers.map((user) => ({ ...user, state: 'USER_STATE_ACTIVE' }));
    const first = await instance.import({ data_orgs: { orgs: [organisation('acme', { humanUsers: stated })] } });
    const { bytes } = await instance.export();
    const again = await instance.import({ data_orgs: JSON.parse(bytes) });
    for (const { summary } of [first, again]) expect(JSON.stringify(summary.warnings)).not.toContain('unknown states');
    expect(again.summary).toMatchObject({ proved: true, unchanged: { org: 1, humanUsers: 2 } });
  });
});
