import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { importOrganisations } from '../../../functions/import/operation.ts';
import { routes } from '../../../functions/removeOtpEmail/app.ts';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import { createApp } from '../../../shared/http/app.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { describeWithFirestore } from '../../support/emulators/withFirestore.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { createUser, userKey } from '../../support/stores/documents.ts';
import { heldStore } from '../../support/stores/heldStore.ts';
import { openProxiedStore } from '../../support/stores/proxiedStore.ts';

const people = (count: number) => Array.from({ length: count }, (_, index) => person(`P${index}`));
const orgs = [organisation('north', { humanUsers: people(2_000) })];
/** A person behind the first batches. */
const LATER_PERSON = 'P1000';
const REJECTIONS = 80;

beforeEach(() => {
  // Scales the delays down: a minute of rejections then takes a second.
  vi.spyOn(Math, 'random').mockReturnValue(0.02);
  return () => void vi.restoreAllMocks();
});

/** An import that is throttled after its first batches, and has retried several times since. */
async function throttledImport() {
  const { direct, store, network } = await openProxiedStore();
  const instance = await testInstance(direct);
  const controller = new AbortController();
  const { signal } = controller;
  const { store: called, before } = heldStore(store.forCall({ signal, isBulk: true }));
  const throttled = before(userKey(LATER_PERSON), async () => network.throttle(Number.POSITIVE_INFINITY));
  const source = { open: () => inPieces(Buffer.from(JSON.stringify({ orgs }))) };
  const importing = importOrganisations(called, source, { withKeys: false }, new Date().toISOString(), signal);
  const failed = importing.catch((reason: unknown) => reason);
  await throttled;
  await expect.poll(() => network.throttled()).toBeGreaterThanOrEqual(REJECTIONS);
  return { instance, store, network, failed, abort: () => controller.abort(deadlineExceeded()) };
}

describeWithFirestore('a throttled database', () => {
  it('ends an import at its deadline with its progress if it never recovers, and the resent import completes', async () => {
    const { instance, store, network, failed, abort } = await throttledImport();
    expect(store.advice().inFlight).toBe(1);
    abort();
    expect(await failed).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      details: [{ written: { org: 1 }, total: { org: 1, humanUsers: 2_000 }, resumable: true }],
    });
    const calls = network.throttled();
    const { errors, summary } = await instance.import({ data_orgs: { orgs } });
    const { humanUsers: created = 0 } = summary.created;
    const { humanUsers: unchanged = 0 } = summary.unchanged;
    expect({ errors, users: created + unchanged }).toEqual({ errors: undefined, users: 2_000 });
    expect(created).toBeGreaterThan(0);
    expect(network.throttled()).toBe(calls);
  });

  it('keeps the writes of an import if it recovers only at the deadline', async () => {
    const { instance, network, failed, abort } = await throttledImport();
    network.throttle(0);
    abort();
    expect(await failed).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    const { summary } = await instance.import({ data_orgs: { orgs } });
    expect(summary).toMatchObject({ unchanged: { org: 1 } });
  });

  it('ends a removal as unavailable after 20 seconds', async () => {
    const { direct, store, network } = await openProxiedStore();
    const { token } = await testInstance(direct);
    const app = createApp({ routes: routes({ store, audit: memoryTrail().audit, now: () => new Date() }) });
    await store.getMany([userKey('ada')]);
    network.throttle(Number.POSITIVE_INFINITY);
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const headers = { authorization: `Bearer ${token}` };
    const responding = app.request('/v2/users/ada/otp_email', { method: 'DELETE', headers });
    await vi.waitUntil(() => network.throttled() > 5, { timeout: 30_000, interval: 1 });
    vi.advanceTimersByTime(15_000);
    const attempts = network.throttled();
    await vi.waitUntil(() => network.throttled() > attempts, { timeout: 30_000, interval: 1 });
    vi.advanceTimersByTime(5_000);
    expect((await responding).status).toBe(503);
  });

  it('ends an operation outside of a call as unavailable', async () => {
    const { store, network } = await openProxiedStore();
    await store.getMany([]);
    vi.spyOn(performance, 'now').mockImplementation(() => network.throttled() * 1_000);
    network.throttle(Number.POSITIVE_INFINITY);
    await expect(store.commit([createUser('ada')])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(network.throttled()).toBeGreaterThan(20);
  });
});
