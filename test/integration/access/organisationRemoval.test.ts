import { describe, expect, it } from 'vitest';
import { listOrganisations } from '../../../cli/accounts/listing.ts';
import { describeRemoval, removeOrganisations } from '../../../cli/accounts/organisationRemoval.ts';
import { createServiceUser } from '../../../cli/accounts/serviceUsers.ts';
import { changeRole } from '../../../shared/accounts/memberships.ts';
import { issueToken } from '../../../shared/accounts/personalAccessTokens.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { withLock } from '../../../shared/store/lock/fence.ts';
import type { Store } from '../../../shared/store/store.ts';
import { goingIds, linkedOrganisations, staying } from '../../support/fixtures/linkedOrganisations.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { interruptedStore } from '../../support/stores/interruptedStore.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { describeStores, openTestStore, type StoreKind } from '../../support/stores/stores.ts';
import { hookedStore, watchedStore } from '../../support/stores/watchedStore.ts';

const { signal } = new AbortController();
const now = new Date();
const killed = new Error('the process ended');

/** Everything in the database except the instance's notes about imports and removals. */
async function contents(store: Store) {
  const database = await readDatabase(store);
  return [...database].filter(([collection]) => collection !== 'instance');
}

/** An instance with the remaining organisation, and its content before the others are imported and linked with it. */
async function linkedInstance(orgs = linkedOrganisations, kind?: StoreKind) {
  const store = await openTestStore(kind);
  const instance = await testInstance(store);
  await instance.import({ data_orgs: { orgs: [staying] } });
  const before = await contents(store);
  const { errors } = await instance.import({ data_orgs: { orgs } });
  expect(errors?.filter(({ id = '' }) => /stays|goes/.test(id)) ?? []).toEqual([]);
  await changeRole(store, { userId: 'goes-ben', orgId: undefined }, 'IAM_OWNER', 'add', now);
  for (const userId of ['goes-ben', 'goes-robot']) await issueToken(store, userId, now, DAY_MS);
  return { store, instance, before };
}

describe('the removal of organisations', () => {
  it('leaves everything as it was before their import', async () => {
    const { store, instance, before } = await linkedInstance();
    expect(await describeRemoval(store, ['goes'])).toEqual([
      { orgId: 'goes', name: 'Organisation goes', people: 2, serviceUsers: 1 },
    ]);
    await removeOrganisations(store, goingIds, signal);
    expect(await contents(store)).toEqual(before);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
    const { summary } = await instance.import({ data_orgs: { orgs: linkedOrganisations } });
    expect(summary).toMatchObject({ unchanged: { org: 1 } });
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('is rejected for the default organisation and for an unknown one', async () => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    await instance.import({ data_orgs: { orgs: [organisation('A'), staying] } });
    const before = await contents(store);
    const refused = async (orgIds: readonly string[], message: string) => {
      await expect(describeRemoval(store, orgIds)).rejects.toThrow(message);
      await expect(removeOrganisations(store, orgIds, signal)).rejects.toThrow(message);
      expect(await contents(store)).toEqual(before);
    };
    await refused(['A', instance.orgId], `organisation ${instance.orgId} is the default organisation`);
    await refused(['A', 'B'], 'organisation B not found');
  });

  it('that was interrupted hides the organisation from exports but not from the list, blocks writes to it, and continues when it is repeated', async () => {
    const { store, instance, before } = await linkedInstance();
    const interrupted = interruptedStore(store, { commit: 1, when: 'after' }, () => Promise.reject(killed));
    await expect(removeOrganisations(interrupted, goingIds, signal)).rejects.toThrow(killed);
    for (const org_ids of [[], goingIds]) {
      const { orgs } = await instance.export({ org_ids });
      expect(orgs.filter(({ orgId }) => goingIds.includes(orgId))).toEqual([]);
    }
    const listed = await Array.fromAsync(listOrganisations(store));
    const removed = listed.filter(({ state }) => state === 'ORG_STATE_REMOVED').map(({ orgId }) => orgId);
    expect(removed).toEqual([...goingIds].sort());
    const during = await contents(store);
    const file = { orgs: [organisation('goes', { humanUsers: [person('late')] })] };
    const { status, body } = await instance.refusedImport({ data_orgs: file });
    expect([status, body.code]).toEqual([409, 10]);
    expect(body.message).toContain('the removal of organisation goes was interrupted: repeat `identity org delete`');
    await expect(issueToken(store, 'goes-robot', now, DAY_MS)).rejects.toThrow('user goes-robot not found');
    await expect(createServiceUser(store, 'bot', 'goes', now)).rejects.toThrow('organisation goes not found');
    const member = { userId: 'stays-ada', orgId: 'goes' };
    await expect(changeRole(store, member, 'ORG_OWNER', 'add', now)).rejects.toThrow('organisation goes not found');
    const foreign = organisation('stays', { orgMembers: [{ userId: 'goes-robot', roles: ['ORG_OWNER'] }] });
    expect((await instance.import({ data_orgs: { orgs: [foreign] } })).summary.failed).toEqual({ orgMembers: 1 });
    expect(await contents(store)).toEqual(during);
    await removeOrganisations(store, goingIds, signal);
    expect(await contents(store)).toEqual(before);
  });

  it('that was interrupted blocks members of project grants to the removed organisation', async () => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    const granting = organisation('stays', {
      humanUsers: [person('ada')],
      projects: [{ projectId: 'P', project: { name: 'P' } }],
      projectGrants: [{ grantId: 'G', projectGrant: { projectId: 'P', grantedOrgId: 'goes' } }],
    });
    await instance.import({ data_orgs: { orgs: [granting, organisation('goes')] } });
    const interrupted = interruptedStore(store, { commit: 0, when: 'after' }, () => Promise.reject(killed));
    await expect(removeOrganisations(interrupted, ['goes'], signal)).rejects.toThrow(killed);
    const member = { projectId: 'P', grantId: 'G', userId: 'ada', roles: ['PROJECT_GRANT_OWNER'] };
    const { summary } = await instance.import({
      data_orgs: { orgs: [{ orgId: 'stays', projectGrantMembers: [member] }] },
    });
    expect(summary.failed).toEqual({ projectGrantMembers: 1 });
  });

  it('stops between two commits when it is aborted', async () => {
    const { store, before } = await linkedInstance();
    const stop = new AbortController();
    let commits = 0;
    const watched = watchedStore(store, () => {
      if (++commits === 2) stop.abort(killed);
    });
    await expect(removeOrganisations(watched, goingIds, stop.signal)).rejects.toThrow(killed);
    expect(commits).toBe(2);
    await removeOrganisations(store, goingIds, signal);
    expect(await contents(store)).toEqual(before);
  });
});

describeStores('the removal of an organisation', (kind) => {
  it('waits for an import into the organisation, and removes what the import has written', async () => {
    const { store, instance, before } = await linkedInstance(linkedOrganisations, kind);
    const request = { mode: 'alone', operation: 'org delete', caller: 'root', signal } as const;
    let removal: Promise<number> | undefined;
    const during = hookedStore(store, async () => {
      removal ??= withLock(store, request, (locked) => removeOrganisations(locked, goingIds, signal));
    });
    const humanUsers = Array.from({ length: 600 }, (_, index) => person(`more${index}`));
    const more = organisation('goes', { humanUsers });
    const { summary } = await servedInstance(during, instance).import({ data_orgs: { orgs: [more] } });
    expect(summary.created).toEqual({ humanUsers: 600 });
    expect(await removal).toBeGreaterThan(600);
    expect(await contents(store)).toEqual(before);
  });
});

it('the removal of organisations that is killed at any commit continues when it is repeated', async () => {
  let commit = 0;
  for (; ; commit++) {
    const { store, before } = await linkedInstance(linkedOrganisations.slice(0, 2));
    let hasHappened = false;
    const interrupted = interruptedStore(store, { commit, when: 'before' }, () => {
      hasHappened = true;
      return Promise.reject(killed);
    });
    const removal = removeOrganisations(interrupted, ['goes'], signal);
    await removal.catch((error: unknown) => expect(error).toBe(killed));
    if (!hasHappened) break;
    await removeOrganisations(store, ['goes'], signal);
    expect(await contents(store), `killed at commit ${commit}`).toEqual(before);
  }
  expect(commit).toBeGreaterThan(8);
});
