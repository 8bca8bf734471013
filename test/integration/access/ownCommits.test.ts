import { describe, expect, it } from 'vitest';
import { removeOrganisations } from '../../../cli/accounts/organisationRemoval.ts';
import { deleteServiceUser } from '../../../cli/accounts/serviceUsers.ts';
import { issueToken, listTokens, revokeTokens } from '../../../shared/accounts/personalAccessTokens.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { grantedRobot, ROBOT } from '../../support/fixtures/grantedRobot.ts';
import { goingIds, linkedOrganisations, staying } from '../../support/fixtures/linkedOrganisations.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { withBriefSnapshots } from '../../support/stores/briefSnapshots.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const { signal } = new AbortController();
const now = new Date();

async function exportedIds(instance: TestInstance): Promise<readonly (string | undefined)[]> {
  return (await instance.export({})).orgs.map(({ orgId }) => orgId);
}

describe('a command whose commits outgrow the log of the database', () => {
  it('deletes organisations in one call', async () => {
    const store = await openTestStore(sqlite);
    const instance = await testInstance(store);
    await instance.import({ data_orgs: { orgs: [staying] } });
    const before = await exportedIds(instance);
    await instance.import({ data_orgs: { orgs: linkedOrganisations } });
    expect(await removeOrganisations(withBriefSnapshots(store), goingIds, signal)).toBeGreaterThan(goingIds.length);
    expect(await exportedIds(instance)).toEqual(before);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('deletes a service user in one call', async () => {
    const store = await openTestStore(sqlite);
    const instance = await testInstance(store);
    await instance.import({ data_orgs: { orgs: grantedRobot }, with_keys: true });
    await issueToken(store, ROBOT, now, DAY_MS);
    await deleteServiceUser(withBriefSnapshots(store), ROBOT);
    expect(JSON.stringify([...(await readDatabase(store))])).not.toContain(ROBOT);
  });

  it('revokes all tokens of a user in one call', async () => {
    const store = await openTestStore(sqlite);
    const { userId } = await testInstance(store);
    for (let more = 0; more < 3; more++) await issueToken(store, userId, now, DAY_MS);
    expect(await revokeTokens(withBriefSnapshots(store), userId)).toBe(4);
    expect(await listTokens(store, userId)).toEqual([]);
  });
});
