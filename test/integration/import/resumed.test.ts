import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ImportSettings } from '../../../functions/import/importRun.ts';
import { importOrganisations } from '../../../functions/import/operation.ts';
import { removeOrganisations } from '../../../shared/accounts/organisationRemoval.ts';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import type { Store } from '../../../shared/store/store.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { type Organisation, organisation, person, unproved } from '../../support/fixtures/organisations.ts';
import { contentsOf, countsOf, readDatabase } from '../../support/stores/database.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { hookedStore, watchedStore } from '../../support/stores/watchedStore.ts';

const PEOPLE = 2_000;
const numbers = Array.from({ length: PEOPLE }, (_, index) => index);
const people = organisation('people', { humanUsers: numbers.map((number) => person(`P${number}`)) });
const large = organisation('large', {
  humanUsers: numbers.slice(0, 50).map((number) => person(`P${number}`)),
  userMetadata: numbers.map((number) => ({ id: `P${number % 50}`, key: `${number}`, value: 'eA==' })),
});
const withFaults = organisation('people', {
  humanUsers: [
    person('twice', { userName: 'name of P1000' }),
    person('unreadable', { hashedPassword: { value: 'unknown' } }),
    ...numbers.map((number) => person(`P${number}`)),
  ],
});
const all = { org: 1, humanUsers: PEOPLE };

const counts = z.record(z.string(), z.number());
const report = z.looseObject({
  errors: z.array(z.object({ id: z.string() })).default([]),
  summary: z.looseObject({
    created: counts,
    unchanged: counts,
    overwritten: counts.default({}),
    warnings: z.array(z.object({ type: z.string(), id: z.string().optional() })),
  }),
});

/** Every import begins at a different moment. */
let imports = 0;
const nextMoment = () => `2026-01-01T00:00:00.${String(imports++).padStart(6, '0')}Z`;

const usual = { withKeys: false };

async function run(store: Store, org: Organisation, options: ImportSettings = {}) {
  const source = { open: () => inPieces(Buffer.from(JSON.stringify({ orgs: [org] }))) };
  const signal = new AbortController().signal;
  return report.parse(await importOrganisations(store, source, { ...usual, ...options }, nextMoment(), signal));
}

/** Imports until the given number of documents is written. */
async function stopAfter(store: Store, documents: number, org: Organisation): Promise<void> {
  const controller = new AbortController();
  let written = 0;
  const watched = watchedStore(store, (writes) => {
    written += writes.length;
    if (written >= documents) controller.abort(deadlineExceeded());
  });
  const source = { open: () => inPieces(Buffer.from(JSON.stringify({ orgs: [org] }))) };
  const stopped = importOrganisations(watched, source, usual, nextMoment(), controller.signal);
  await expect(stopped).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
}

/** A store that stops working silently after the given number of commits, like a killed process. */
async function killAfter(
  store: Store,
  commits: number,
  org: Organisation,
  options: ImportSettings = {},
): Promise<void> {
  await expect(run(dyingStore(store, commits), org, options)).rejects.toMatchObject({ cause: { message: 'killed' } });
}

function dyingStore(store: Store, commits: number): Store {
  let left = commits;
  return {
    ...watchedStore(store, () => {}),
    commit: async (writes) => {
      if (left-- <= 0) throw new Error('killed');
      await store.commit(writes);
    },
    transaction: async (work) => {
      if (left-- <= 0) throw new Error('killed');
      return await store.transaction(work);
    },
  };
}

describe('an import that was interrupted and sent again', () => {
  it('reaches the same state as an uninterrupted one', async () => {
    const [stopped, whole] = [await openTestStore(), await openTestStore()];
    await stopAfter(stopped, PEOPLE, people);
    await run(stopped, people);
    await run(whole, people);
    const contents = async (store: Store) => contentsOf(await readDatabase(store), ['people']);
    expect(await contents(stopped)).toEqual(await contents(whole));
  });

  it('reports earlier errors again, and accepts records that are valid by now', async () => {
    const store = await openTestStore();
    await run(store, organisation('other', { humanUsers: [person('first', { userName: 'name of P1000' })] }));
    await stopAfter(store, PEOPLE, withFaults);
    const { errors, summary } = await run(store, withFaults);
    expect(errors.map(({ id }) => id).sort()).toEqual(['P1000', 'twice']);
    const warned = summary.warnings.map(({ type, id }) => id ?? type);
    expect(warned).toEqual([unproved.type, 'twice', 'unreadable', 'P1000']);
  });

  it.each<[string, (store: Store) => Promise<void>, Organisation]>([
    ['a time-out', (store) => stopAfter(store, PEOPLE, people), people],
    ['a kill', (store) => killAfter(store, 5, people), people],
    ['a kill among the first records', (store) => killAfter(store, 2, people), people],
    ['a kill among the metadata', (store) => killAfter(store, 5, large), large],
    ['two kills', (store) => killAfter(store, 3, people).then(() => killAfter(store, 3, people)), people],
  ])('counts the records written before %s as unchanged, and the rest as created', async (_by, stop, org) => {
    const store = await openTestStore();
    await stop(store);
    const before = countsOf(await readDatabase(store), ['people', 'large']);
    const { errors, summary } = await run(store, org);
    const after = countsOf(await readDatabase(store), ['people', 'large']);
    const created = Object.entries(after).map(([name, count = 0]) => [name, count - (before[name] ?? 0)] as const);
    expect({ errors, unchanged: summary.unchanged }).toEqual({ errors: [], unchanged: before });
    expect(summary.created).toEqual(Object.fromEntries(created.filter(([, count]) => count > 0)));
    expect((await run(store, org)).summary).toMatchObject({ created: {}, unchanged: after });
  });

  it('counts records as unchanged that an interrupted call has overwritten', async () => {
    const store = await openTestStore();
    const older = numbers.map((number) => person(`P${number}`, { userName: `former${number}` }));
    await run(store, organisation('people', { humanUsers: older }));
    await killAfter(store, 4, people, { onConflict: 'overwrite' });
    const { overwritten, unchanged } = (await run(store, people, { onConflict: 'overwrite' })).summary;
    expect(overwritten.humanUsers).toBeLessThan(PEOPLE);
    expect((overwritten.humanUsers ?? 0) + (unchanged.humanUsers ?? 0)).toBe(PEOPLE);
  });

  it('reports a record that another import has changed meanwhile', async () => {
    const store = await openTestStore();
    await stopAfter(store, PEOPLE, people);
    const changed = organisation('people', { humanUsers: [person('P1', { userName: 'new' })] });
    await run(store, changed, { onConflict: 'overwrite' });
    expect((await run(store, people)).errors).toMatchObject([{ id: 'P1' }]);
  });

  it('writes everything again if its organisation is removed meanwhile', async () => {
    const store = await openTestStore();
    await stopAfter(store, PEOPLE, people);
    let isRemoved = false;
    const racing = hookedStore(store, async (writes) => {
      if (isRemoved || !writes.some(({ key }) => key.collection === 'organisations')) return;
      isRemoved = true;
      await removeOrganisations(store, ['people'], new AbortController().signal);
    });
    expect((await run(racing, people)).summary).toMatchObject({ created: all, unchanged: {} });
    expect((await readDatabase(store)).get('users')).toHaveLength(PEOPLE);
  });

  it('leaves nothing behind except the records', async () => {
    const store = await openTestStore();
    await stopAfter(store, PEOPLE, people);
    expect((await readDatabase(store)).get('instance') ?? []).toEqual([]);
  });
});
