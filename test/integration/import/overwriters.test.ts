import { describe, expect, it } from 'vitest';
import { importOrganisations, uniqueStamp } from '../../../functions/import/operation.ts';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import type { Store } from '../../../shared/store/store.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { type Organisation, organisation } from '../../support/fixtures/organisations.ts';
import { importReport } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

/** A service user's description and the values of its metadata, which are written in a later phase. */
function file(description: string, values: Readonly<Record<string, string>>): Organisation {
  return organisation('O', {
    machineUsers: [{ userId: 'R', user: { userName: 'robot', name: 'Robot', description } }],
    userMetadata: Object.entries(values).map(([key, value]) => ({ id: 'R', key, value })),
  });
}

const [older, newer, newest] = ['b2xkZXI=', 'bmV3ZXI=', 'bmV3ZXN0'];

interface Call {
  readonly onConflict?: 'report' | 'overwrite';
  readonly now?: () => Date;
  /** Happens before the call reads the file for the time with this number, counted from 1. */
  readonly before?: readonly [reading: number, happens: () => Promise<void>];
  readonly signal?: AbortSignal;
}

async function run(store: Store, org: Organisation, call: Call) {
  const { now = () => new Date(), before, signal = new AbortController().signal, ...options } = call;
  let readings = 0;
  async function* open(): AsyncGenerator<Uint8Array> {
    if (++readings === before?.[0]) await before[1]();
    yield* inPieces(Buffer.from(JSON.stringify({ orgs: [org] })));
  }
  const settings = { withKeys: false, now, ...options };
  return importReport.parse(await importOrganisations(store, { open }, settings, uniqueStamp(now()), signal));
}

/** Imports until records of a collection are written. */
async function stop(store: Store, org: Organisation, collection: string, call: Call = {}): Promise<void> {
  const controller = new AbortController();
  const watched = watchedStore(store, (writes) => {
    if (writes.some(({ key }) => key.collection === collection)) controller.abort(deadlineExceeded());
  });
  const stopped = run(watched, org, { ...call, signal: controller.signal });
  await expect(stopped).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
}

describe('an import that was stopped resumes from nothing that has been overwritten since', () => {
  it('by a call that goes on after another one of the same import is complete', async () => {
    const store = await openTestStore();
    await run(store, file('old', { a: older }), {});
    const overwriting = file('new', { a: newer });
    const stopped = file('new', { a: newest, b: newest });
    await stop(store, overwriting, 'users', { onConflict: 'overwrite' });
    const happens = async () => {
      await run(store, overwriting, { onConflict: 'overwrite' });
      await run(store, file('new', { a: newest }), { onConflict: 'overwrite' });
      await stop(store, stopped, 'userMetadata');
    };
    const { summary } = await run(store, overwriting, { onConflict: 'overwrite', before: [2, happens] });
    expect(summary).toMatchObject({ resumed: true, overwritten: { userMetadata: 1 } });
    const again = await run(store, stopped, {});
    expect(again.summary).toMatchObject({ unchanged: { userMetadata: 1 }, failed: { userMetadata: 1 } });
  });

  it('by a call that found a mark which has expired meanwhile', async () => {
    const store = await openTestStore();
    let time = '2026-01-01T00:00:00Z';
    const now = () => new Date(time);
    await run(store, file('old', { a: older }), { now });
    const overwriting = file('new', { a: newer });
    const stopped = file('new', { a: older, b: older });
    await stop(store, overwriting, 'users', { onConflict: 'overwrite', now });
    time = '2026-01-02T00:59:00Z';
    const happens = async () => {
      time = '2026-01-02T01:01:00Z';
      await stop(store, stopped, 'userMetadata', { now });
    };
    const { summary } = await run(store, overwriting, { onConflict: 'overwrite', now, before: [3, happens] });
    expect(summary).toMatchObject({ overwritten: { userMetadata: 1 } });
    const again = await run(store, stopped, { now });
    expect(again.summary).toMatchObject({ unchanged: { userMetadata: 1 }, failed: { userMetadata: 1 } });
  });
});

describe('an import that may overwrite, and creates only', () => {
  it('takes nobody the checkpoint, and resumes from its own', async () => {
    const store = await openTestStore();
    const stopped = file('new', { a: older });
    await stop(store, stopped, 'userMetadata');
    const created = { ...stopped, orgId: 'other', org: { name: 'other' }, machineUsers: [], userMetadata: [] };
    const more = Array.from({ length: 600 }, (_, index) => ({
      userId: `M${index}`,
      user: { userName: `m${index}`, name: 'M' },
    }));
    const creating = { ...created, machineUsers: more, userMetadata: [{ id: 'M1', key: 'a', value: older }] };
    await stop(store, creating, 'userMetadata', { onConflict: 'overwrite' });
    const { summary } = await run(store, creating, { onConflict: 'overwrite' });
    expect(summary).toMatchObject({ resumed: true });
    expect((await run(store, stopped, {})).summary).toMatchObject({ resumed: true });
  });
});
