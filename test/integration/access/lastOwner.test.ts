import { describe, expect, it } from 'vitest';
import { removeOrganisations } from '../../../cli/accounts/organisationRemoval.ts';
import { changeLock } from '../../../cli/accounts/userLocks.ts';
import { changeRole } from '../../../shared/accounts/memberships.ts';
import type { Store } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { interruptedStore } from '../../support/stores/interruptedStore.ts';
import { openTestStore } from '../../support/stores/stores.ts';

const { signal } = new AbortController();
const now = new Date();

const setRole = (store: Store, userId: string, change: 'add' | 'remove', isForced = false) =>
  changeRole(store, { userId, orgId: undefined }, 'IAM_OWNER', change, now, isForced);

/** An instance whose only owners are ada, of the organisation A, and ben, of B. */
async function twoOwners(fields: object = {}): Promise<Store> {
  const store = await openTestStore();
  const instance = await testInstance(store);
  const orgs = [
    organisation('A', { humanUsers: [person('ada')] }),
    organisation('B', { humanUsers: [person('ben')], ...fields }),
  ];
  await instance.import({ data_orgs: { orgs } });
  for (const userId of ['ada', 'ben']) await setRole(store, userId, 'add');
  await setRole(store, instance.userId, 'remove', true);
  return store;
}

const killed = new Error('the process ended');

/** Begins the removal of an organisation, which is then interrupted. */
async function beginRemoval(store: Store, orgId: string): Promise<void> {
  const interrupted = interruptedStore(store, { commit: 0, when: 'after' }, () => Promise.reject(killed));
  await expect(removeOrganisations(interrupted, [orgId], signal)).rejects.toThrow(killed);
}

const lastIs = (userId: string) => `user ${userId} is the last active IAM_OWNER`;

async function expectLast(store: Store, userId: string, orgId: string): Promise<void> {
  await expect(setRole(store, userId, 'remove')).rejects.toThrow(lastIs(userId));
  await expect(changeLock(store, userId, 'lock', now, false)).rejects.toThrow(lastIs(userId));
  await expect(removeOrganisations(store, [orgId], signal)).rejects.toThrow(lastIs(userId));
}

describe('the last active IAM_OWNER', () => {
  it('stays while the organisation of the other owner is in removal', async () => {
    const store = await twoOwners();
    await beginRemoval(store, 'B');
    await expectLast(store, 'ada', 'A');
    await removeOrganisations(store, ['B'], signal);
    await expectLast(store, 'ada', 'A');
  });

  it('stays if the organisation of the other owner is inactive', async () => {
    await expectLast(await twoOwners({ orgState: 'ORG_STATE_INACTIVE' }), 'ada', 'A');
  });

  it('stays if the removal of the organisation of the other owner begins at the same time', async () => {
    const store = await twoOwners();
    const during = interruptedStore(store, { commit: 0, when: 'before' }, () => beginRemoval(store, 'B'));
    await expect(setRole(during, 'ada', 'remove')).rejects.toThrow(lastIs('ada'));
  });

  it('keeps its organisation if the other owner loses the role at the same time', async () => {
    const store = await twoOwners();
    const during = interruptedStore(store, { commit: 0, when: 'before' }, () => setRole(store, 'ben', 'remove'));
    await expect(removeOrganisations(during, ['A'], signal)).rejects.toThrow(lastIs('ada'));
  });
});
