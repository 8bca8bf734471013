import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ImportOptions, importOrganisations } from '../../../functions/import/operation.ts';
import { ImportNotes } from '../../../functions/import/resume/notes.ts';
import { removeOrganisations } from '../../../shared/accounts/organisationRemoval.ts';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import type { Collection, DocumentKey, Store } from '../../../shared/store/store.ts';
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
    resumed: z.boolean(),
    earlier: z.unknown().optional(),
    warnings: z.array(z.object({ type: z.string(), id: z.string().optional() })),
  }),
});

/** Every import has a moment of its own. */
let imports = 0;
const moment = (day: string) => `2026-01-${day}T00:00:00.${String(imports++).padStart(6, '0')}Z`;

const optionsOn = (day: string) => ({ withKeys: false, now: () => new Date(`2026-01-${day}T00:00:00Z`) });

async function run(store: Store, org: Organisation, options: Partial<ImportOptions> = {}, day = '01') {
  const source = { open: () => inPieces(Buffer.from(JSON.stringify({ orgs: [org] }))) };
  const signal = new AbortController().signal;
  const all = { ...optionsOn(day), ...options };
  return report.parse(await importOrganisations(store, source, all, moment(day), signal));
}

/** Imports until so many documents are written. */
async function stopAfter(store: Store, documents: number, org: Organisation): Promise<void> {
  const controller = new AbortController();
  let written = 0;
  const watched = watchedStore(store, (writes) => {
    written += writes.length;
    if (written >= documents) controller.abort(deadlineExceeded());
  });
  const source = { open: () => inPieces(Buffer.from(JSON.stringify({ orgs: [org] }))) };
  const stopped = importOrganisations(watched, source, optionsOn('01'), moment('01'), controller.signal);
  await expect(stopped).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
}

/** A store that stops working, without a word, after so many commits: what a killed process leaves behind. */
async function killAfter(
  store: Store,
  commits: number,
  org: Organisation,
  options: Partial<ImportOptions> = {},
): Promise<void> {
  await expect(run(dyingStore(store, commits), org, options)).rejects.toThrow('killed');
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

/** Finds one of the notes that the calls so far have left. */
async function findNote(store: Store): Promise<{ id: string; body: string }> {
  const documents = (await readDatabase(store)).get('instance') ?? [];
  const { id, body } = documents.find(({ id }) => id.includes('|note|')) ?? {};
  if (id === undefined || body === undefined) throw new Error('the import has left no note');
  return { id, body };
}

/** Changes a note, or deletes it. */
async function changeNote(store: Store, note: { id: string; body: string }, change: object | undefined): Promise<void> {
  const key = { collection: 'instance', id: note.id } as const;
  if (change === undefined) return await store.commit([{ type: 'delete', key }]);
  const body = JSON.stringify({ ...JSON.parse(note.body), ...change });
  await store.commit([{ type: 'update', key, fields: { body } }]);
}

/** A store that tells which documents of a collection are read or written. */
function touched(store: Store, collection: Collection): { store: Store; ids: Set<string> } {
  const ids = new Set<string>();
  const note = (keys: readonly DocumentKey[]) => {
    for (const key of keys) if (key.collection === collection) ids.add(key.id);
  };
  const getMany: Store['getMany'] = (keys, fields) => {
    note(keys);
    return store.getMany(keys, fields);
  };
  return { store: { ...watchedStore(store, (writes) => note(writes.map(({ key }) => key))), getMany }, ids };
}

describe('an import that was stopped', () => {
  it.each<[string, (store: Store) => Promise<void>, Organisation, Collection]>([
    ['a time-out among the people', (store) => stopAfter(store, PEOPLE, people), people, 'users'],
    ['a time-out among the metadata', (store) => stopAfter(store, PEOPLE, large), large, 'userMetadata'],
    ['a kill', (store) => killAfter(store, 10, people), people, 'users'],
  ])('by %s goes on where it was, without looking at what was in', async (_by, stop, org, collection) => {
    const store = await openTestStore();
    await stop(store);
    const watched = touched(store, collection);
    const { errors, summary } = await run(watched.store, org);
    expect({ errors, resumed: summary.resumed }).toEqual({ errors: [], resumed: true });
    expect(watched.ids.size).toBeLessThanOrEqual(1_500);
    const { humanUsers, userMetadata = [] } = z
      .looseObject({ humanUsers: z.array(z.unknown()), userMetadata: z.array(z.unknown()).optional() })
      .parse(org);
    const sum = (name: string) => (summary.created[name] ?? 0) + (summary.unchanged[name] ?? 0);
    expect([sum('humanUsers'), sum('userMetadata')]).toEqual([humanUsers.length, userMetadata.length]);
  });

  it('comes to the same state as one that was not', async () => {
    const [stopped, whole] = [await openTestStore(), await openTestStore()];
    await stopAfter(stopped, PEOPLE, people);
    await run(stopped, people);
    await run(whole, people);
    const contents = async (store: Store) => contentsOf(await readDatabase(store), ['people']);
    expect(await contents(stopped)).toEqual(await contents(whole));
  });

  it('reports again what was wrong before it was stopped, and takes what is right now', async () => {
    const store = await openTestStore();
    await run(store, organisation('other', { humanUsers: [person('first', { userName: 'name of P1000' })] }));
    await stopAfter(store, PEOPLE, withFaults);
    const { errors, summary } = await run(store, withFaults);
    expect(summary.resumed).toBe(true);
    expect(errors.map(({ id }) => id).sort()).toEqual(['P1000', 'twice']);
    expect(summary.warnings).toMatchObject([{ type: unproved.type }, { id: 'unreadable' }]);
  });

  it.each<[string, (store: Store) => Promise<void>, Organisation]>([
    ['a time-out', (store) => stopAfter(store, PEOPLE, people), people],
    ['a kill', (store) => killAfter(store, 10, people), people],
    ['a kill before the first checkpoint', (store) => killAfter(store, 3, people), people],
    ['a kill among the metadata', (store) => killAfter(store, 8, large), large],
    ['two kills', (store) => killAfter(store, 6, people).then(() => killAfter(store, 6, people)), people],
  ])('by %s tells exactly what its earlier calls did', async (_by, stop, org) => {
    const store = await openTestStore();
    await stop(store);
    const before = countsOf(await readDatabase(store), ['people', 'large']);
    const { summary } = await run(store, org);
    expect(summary).toMatchObject({ resumed: true, unchanged: before, earlier: { created: before } });
    const again = (await run(store, org)).summary;
    expect([again.resumed, again.created, again.earlier]).toEqual([false, {}, undefined]);
  });

  it('tells what its earlier calls have overwritten', async () => {
    const store = await openTestStore();
    const older = numbers.map((number) => person(`P${number}`, { userName: `former${number}` }));
    await run(store, organisation('people', { humanUsers: older }));
    await killAfter(store, 12, people, { onConflict: 'overwrite' });
    const { overwritten, earlier } = (await run(store, people, { onConflict: 'overwrite' })).summary;
    expect(overwritten.humanUsers).toBeLessThan(PEOPLE);
    expect(earlier).toEqual({ overwritten: { humanUsers: PEOPLE - (overwritten.humanUsers ?? 0) } });
  });

  it.each([
    ['a note is of an older release', { created: undefined }],
    ['another call is at work', { call: '2026-01-09' }],
    ['a note is gone', undefined],
  ])('says nothing of its earlier calls where %s meanwhile', async (_case, change) => {
    const store = await openTestStore();
    await stopAfter(store, PEOPLE, people);
    // The note of an earlier call: this call's own begin to arrive while it runs.
    const note = await findNote(store);
    let isChanged = false;
    const racing = hookedStore(store, async (writes) => {
      if (isChanged || !writes.some(({ key }) => key.collection === 'users')) return;
      isChanged = true;
      await changeNote(store, note, change);
    });
    const { resumed, earlier } = (await run(racing, people)).summary;
    expect([resumed, earlier]).toEqual([true, undefined]);
  });

  it('takes what a kill has left of the notes for no import', async () => {
    const store = await openTestStore();
    const noting = { identity: 'import', mark: { epoch: 'epoch' }, now: () => new Date('2026-01-01') };
    const [first, second, third] = ['1', '2', '3'].map((call) => new ImportNotes(store, { ...noting, call }));
    if (!first || !second || !third) throw new Error('three calls');
    for (let part = 0; part < 3; part++)
      await store.commit(
        numbers.slice(0, 400).flatMap(() => first.writes({ created: { org: 1 }, overwritten: {}, warnings: [] })),
      );
    expect(await second.readEarlier()).toEqual({ exist: true, continue: true });
    await expect(second.finish(dyingStore(store, 2))).rejects.toThrow('killed');
    expect(await third.readEarlier()).toEqual({ exist: true, continue: false });
    expect((await third.finish(store)).earlier).toBeUndefined();
  });

  it('starts anew with another document, with other options, and after a day', async () => {
    const store = await openTestStore();
    await stopAfter(store, PEOPLE, people);
    const other = { ...people, projects: [] };
    expect((await run(store, other, { dryRun: true })).summary.resumed).toBe(false);
    expect((await run(store, people, { dryRun: true, onConflict: 'skip' })).summary.resumed).toBe(false);
    expect((await run(store, people, { dryRun: true }, '03')).summary.resumed).toBe(false);
    expect((await run(store, people, { dryRun: true })).summary.resumed).toBe(true);
  });

  it('starts anew once another import has overwritten what it had brought in', async () => {
    const store = await openTestStore();
    await stopAfter(store, PEOPLE, people);
    await run(store, organisation('people', { humanUsers: [person('P1', { userName: 'new' })] }), {
      onConflict: 'overwrite',
    });
    const { errors, summary } = await run(store, people);
    expect({ errors, resumed: summary.resumed }).toMatchObject({ errors: [{ id: 'P1' }], resumed: false });
  });

  it('starts anew where its organisation is removed before it writes that again', async () => {
    const store = await openTestStore();
    await stopAfter(store, PEOPLE, people);
    let isRemoved = false;
    const racing = hookedStore(store, async (writes) => {
      if (isRemoved || !writes.some(({ key }) => key.collection === 'organisations')) return;
      isRemoved = true;
      await removeOrganisations(store, ['people'], new AbortController().signal);
    });
    expect((await run(racing, people)).summary).toMatchObject({ created: all, unchanged: {}, resumed: false });
    expect((await readDatabase(store)).get('users')).toHaveLength(PEOPLE);
  });

  it('leaves nothing behind once it has ended', async () => {
    const store = await openTestStore();
    const checkpoints = async () => (await readDatabase(store)).get('instance') ?? [];
    await stopAfter(store, PEOPLE, people);
    // The checkpoint, and a note for each commit.
    expect((await checkpoints()).length).toBeGreaterThanOrEqual(2);
    await run(store, people);
    expect(await checkpoints()).toEqual([]);
    expect((await run(store, people)).summary).toMatchObject({ resumed: false, created: {}, unchanged: all });
  });
});
