import { expect, it } from 'vitest';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { describeStores, openTestStore } from '../../support/stores/stores.ts';
import { hookedStore, watchedStore } from '../../support/stores/watchedStore.ts';

const people = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...person(`U${index}`),
    user: { ...person(`U${index}`).user, userName: `u${index}@theirs.example` },
  }));
const reserved = (id: string) => ({
  type: 'human_user',
  id,
  reason: 'domain_reserved',
  params: { organisation: 'B' },
});
const verifying = {
  data_orgs: { orgs: [organisation('B', { domains: [{ domainName: 'theirs.example', isVerified: true }] })] },
};

describeStores('an import of people whose domain another import verifies', (kind) => {
  it('rejects them if the domain is verified before their commit', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    let other: Promise<unknown> | undefined;
    const during = hookedStore(store, async (writes) => {
      if (!writes.some(({ key }) => key.collection === 'users')) return;
      other ??= instance.import(verifying);
      await other;
    });
    const request = { data_orgs: { orgs: [organisation('A', { humanUsers: people(3) })] } };
    const { summary, reasons } = await servedInstance(during, instance).import(request);
    expect(await other).toMatchObject({ summary: { created: { domains: 1 } } });
    expect(summary.failed).toEqual({ humanUsers: 3 });
    expect(reasons).toContainEqual(reserved('U0'));
    expect(new Set(reasons.map(({ reason }) => reason))).toEqual(new Set(['domain_reserved']));
  });

  it('rejects those of later batches, and keeps the people who came first', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    let other: Promise<unknown> | undefined;
    const during = watchedStore(store, async (writes) => {
      if (!writes.some(({ key }) => key.collection === 'users')) return;
      other ??= instance.import(verifying);
      await other;
    });
    const request = { data_orgs: { orgs: [organisation('A', { humanUsers: people(1_000) })] } };
    const { summary, reasons } = await servedInstance(during, instance).import(request);
    await other;
    // Two batches are in flight when the domain is verified.
    const created = summary.created.humanUsers ?? 0;
    expect(created).toBeGreaterThan(0);
    expect(created).toBeLessThanOrEqual(500);
    expect(summary.failed).toEqual({ humanUsers: 1_000 - created });
    expect(new Set(reasons.map(({ reason }) => reason))).toEqual(new Set(['domain_reserved']));
    expect((await instance.import(request)).summary).toMatchObject({
      unchanged: { humanUsers: created },
      failed: { humanUsers: 1_000 - created },
    });
  });
});
