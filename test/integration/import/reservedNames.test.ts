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
const reserved = (id: string) => ({ type: 'human_user', id, reason: 'domain_reserved', params: { organisation: 'B' } });
const verifying = {
  data_orgs: { orgs: [organisation('B', { domains: [{ domainName: 'theirs.example', isVerified: true }] })] },
};

describeStores('an import of people whose domain another import verifies', (kind) => {
  /** Imports people while another import verifies the domain of their names, before the first commit of people. */
  async function importDuring(decorate: typeof hookedStore | typeof watchedStore, count: number) {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    let other: ReturnType<typeof instance.import> | undefined;
    const during = decorate(store, async (writes) => {
      if (!writes.some(({ key }) => key.collection === 'users')) return;
      other ??= instance.import(verifying);
      await other;
    });
    const request = { data_orgs: { orgs: [organisation('A', { humanUsers: people(count) })] } };
    const { summary, reasons } = await servedInstance(during, instance).import(request);
    expect(await other).toMatchObject({ summary: { created: { domains: 1 } } });
    expect(new Set(reasons.map(({ reason }) => reason))).toEqual(new Set(['domain_reserved']));
    return { summary, reasons, again: () => instance.import(request) };
  }

  it('rejects them if the domain is verified before their commit', async () => {
    const { summary, reasons } = await importDuring(hookedStore, 3);
    expect(summary.failed).toEqual({ humanUsers: 3 });
    expect(reasons).toContainEqual(reserved('U0'));
  });

  it('rejects those of later batches, and keeps the people who came first', async () => {
    const { summary, again } = await importDuring(watchedStore, 1_000);
    // Two batches are in flight when the domain is verified.
    const created = summary.created.humanUsers ?? 0;
    expect(created).toBeGreaterThan(0);
    expect(created).toBeLessThanOrEqual(500);
    const failed = { humanUsers: 1_000 - created };
    expect(summary.failed).toEqual(failed);
    expect((await again()).summary).toMatchObject({ unchanged: { humanUsers: created }, failed });
  });
});
