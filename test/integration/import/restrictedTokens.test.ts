import { describe, expect, it } from 'vitest';
import { changeRole } from '../../../shared/accounts/members.ts';
import { issueToken } from '../../../shared/accounts/personalAccessTokens.ts';
import { createServiceUser } from '../../../shared/accounts/serviceUsers.ts';
import { storeUnavailable } from '../../../shared/errors/storeErrors.ts';
import type { Store } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance, type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { hookedStore } from '../../support/stores/watchedStore.ts';

const verified = (domainName: string) => ({ domainName, isVerified: true });
const request = (orgId: string, domains: object[], more: object = {}) => ({
  org_ids: [orgId],
  data_orgs: { orgs: [organisation(orgId, { domains, ...more })] },
});
const refused = (orgId: string, domainName: string) => ({
  type: 'domain',
  id: `${orgId}_${domainName}`,
  message: 'ID=IMPORT-restrictedDomain Message=Errors.Org.Domain.RestrictedToken',
});

/** Serves an instance for a token that imports into some organisations only. */
async function restrictedTo(store: Store, instance: TestInstance, orgIds: string[]) {
  const userId = await createServiceUser(store, 'restricted', undefined, new Date());
  await changeRole(store, { userId, orgId: undefined }, 'IAM_OWNER', 'add', new Date());
  const { token } = await issueToken(store, userId, new Date(), 60_000, { operations: ['import'], orgIds });
  return servedInstance(store, { ...instance, userId, token });
}

async function filled() {
  const store = await openTestStore();
  const owner = await testInstance(store);
  const domains = [verified('own.example'), { domainName: 'open.example' }];
  await owner.import({ data_orgs: { orgs: [organisation('a', { domains }), organisation('c')] } });
  return { store, owner, restricted: await restrictedTo(store, owner, ['a', 'new']) };
}

describe('an import with a token for some organisations', () => {
  it.each(['report', 'skip', 'overwrite'])(
    'verifies no domain that they do not have, under "%s"',
    async (on_conflict) => {
      const { owner, restricted } = await filled();
      const people = { humanUsers: [person('anna')] };
      for (const orgId of ['a', 'new'])
        for (const dry_run of [true, false, false]) {
          const body = request(orgId, [verified('c.example'), { domainName: 'unverified.example' }], people);
          const { errors, summary } = await restricted.import({ ...body, on_conflict, dry_run });
          expect(errors?.filter(({ type }) => type === 'domain')).toEqual([refused(orgId, 'c.example')]);
          expect(summary.failed.domains).toBe(1);
        }
      const names = (await owner.export()).orgs.map(({ orgId, domains }) => ({ orgId, domains }));
      const unverified = expect.objectContaining({ domainName: 'unverified.example' });
      expect(names).toMatchObject([
        { orgId: 'a', domains: expect.arrayContaining([unverified]) },
        { orgId: 'c' },
        { orgId: 'new', domains: [unverified] },
      ]);
      expect(JSON.stringify(names)).not.toContain('c.example"');
      // Others can use and claim it.
      const other = {
        domains: [verified('c.example')],
        humanUsers: [person('cesar', { userName: 'cesar@c.example' })],
      };
      expect((await owner.import({ data_orgs: { orgs: [organisation('c', other)] } })).errors).toBeUndefined();
    },
  );

  it('takes those that they have, and changes them, but verifies none of them', async () => {
    const { owner, restricted } = await filled();
    const send = (...domains: object[]) => restricted.import({ ...request('a', domains), on_conflict: 'overwrite' });
    expect((await send(verified('own.example'))).errors).toBeUndefined();
    expect((await send({ ...verified('own.example'), isPrimary: true })).errors).toBeUndefined();
    expect((await send(verified('open.example'))).errors).toEqual([refused('a', 'open.example')]);
    expect((await owner.export({ org_ids: ['a'] })).orgs).toMatchObject([
      { domains: [{ domainName: 'open.example' }, { ...verified('own.example'), isPrimary: true }] },
    ]);
  });

  it('verifies none that loses its verification between the read and the commit', async () => {
    const { store, owner, restricted } = await filled();
    let hasHappened = false;
    const racing = hookedStore(store, async (writes) => {
      if (hasHappened || !writes.some(({ key, type }) => key.collection === 'domains' && type === 'update')) return;
      hasHappened = true;
      await owner.import({ ...request('a', [{ domainName: 'own.example' }]), on_conflict: 'overwrite' });
    });
    const served = servedInstance(store, restricted, { store: racing });
    const body = request('a', [{ ...verified('own.example'), isPrimary: true }]);
    expect((await served.import({ ...body, on_conflict: 'overwrite' })).errors).toEqual([refused('a', 'own.example')]);
    expect(hasHappened).toBe(true);
  });

  it('says so again when it is resumed, and leaves nothing out when an owner resumes it', async () => {
    const { store, owner, restricted } = await filled();
    let failures = 2;
    const failing = hookedStore(store, async (writes) => {
      if (failures === 0 || !writes.some(({ key }) => key.collection === 'users')) return;
      failures--;
      throw storeUnavailable(new Error('injected'));
    });
    const served = servedInstance(store, restricted, { store: failing });
    const body = request('new', [verified('c.example')], { humanUsers: [person('anna')] });
    for (let call = 0; call < 2; call++) expect((await served.refusedImport(body)).status).toBe(503);
    expect((await served.import(body)).errors).toEqual([refused('new', 'c.example')]);
    const { errors, summary } = await owner.import(body);
    expect({ errors, created: summary.created }).toEqual({ errors: undefined, created: { domains: 1 } });
  });
});
