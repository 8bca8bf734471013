import { describe, expect, it } from 'vitest';
import { type ImportOptions, importOrganisations, uniqueStamp } from '../../../functions/import/operation.ts';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import type { Store } from '../../../shared/store/store.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { type Organisation, organisation, person } from '../../support/fixtures/organisations.ts';
import { importReport } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { hookedStore, watchedStore } from '../../support/stores/watchedStore.ts';

const HOUR_MS = 3_600_000;
const PEOPLE = 600;
const numbers = Array.from({ length: PEOPLE }, (_, index) => index);
/** Organisations whose owners and members an import creates. */
const org = (orgId: string) =>
  organisation(orgId, {
    humanUsers: numbers.map((number) => person(`${orgId}-${number}`)),
    orgMembers: numbers.map((number) => ({ userId: `${orgId}-${number}`, roles: ['ORG_OWNER'] })),
  });

/** A clock that a test moves. */
class Clock {
  private time = Date.parse('2026-01-01T00:00:00.000Z');
  readonly now = () => new Date(this.time);
  advance(hours: number): void {
    this.time += hours * HOUR_MS;
  }
}

interface Call extends Pick<ImportOptions, 'newOrgsOnly' | 'onConflict'> {
  readonly orgs: readonly Organisation[];
}

async function run(store: Store, clock: Clock, { orgs, ...options }: Call, signal = new AbortController().signal) {
  const source = { open: () => inPieces(Buffer.from(JSON.stringify({ orgs }))) };
  const all = { withKeys: false, now: clock.now, ...options };
  return importReport.parse(await importOrganisations(store, source, all, uniqueStamp(clock.now()), signal));
}

/** Imports for hours, until the timeout ends the call in the middle of the members. */
async function runForHours(store: Store, clock: Clock, call: Call, hours: number): Promise<void> {
  const ended = new AbortController();
  const watched = watchedStore(store, (writes) => {
    const collections = new Set(writes.map(({ key }) => key.collection));
    if (collections.has('users')) clock.advance(hours / 4);
    if (collections.has('members')) ended.abort(deadlineExceeded());
  });
  await expect(run(watched, clock, call, ended.signal)).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
}

describe('an import that was interrupted after more than a day', () => {
  it('resumes for a day after its interruption, and knows what its calls created', async () => {
    const store = await openTestStore();
    const clock = new Clock();
    await runForHours(store, clock, { orgs: [org('O')] }, 100);
    clock.advance(23.5);
    const { errors, summary } = await run(store, clock, { orgs: [org('O')] });
    expect({ errors, resumed: summary.resumed }).toEqual({ errors: undefined, resumed: true });
    expect(summary.unchanged.humanUsers).toBe(PEOPLE);
    // Without its notes the import would take its own organisation for one that existed before.
    expect(summary.warnings).not.toContainEqual(expect.objectContaining({ type: 'privilege' }));
  });

  it('reads everything again once a day has passed since its interruption', async () => {
    const store = await openTestStore();
    const clock = new Clock();
    await runForHours(store, clock, { orgs: [org('O')] }, 100);
    // What is noted beside the checkpoints lives an hour longer.
    clock.advance(25);
    const { errors, summary } = await run(store, clock, { orgs: [org('O')] });
    expect({ errors, resumed: summary.resumed }).toEqual({ errors: undefined, resumed: false });
    expect(summary.unchanged.humanUsers).toBe(PEOPLE);
  });

  it('keeps its organisations as its own with new_orgs_only', async () => {
    const store = await openTestStore();
    const clock = new Clock();
    const call = { orgs: [org('O')], newOrgsOnly: true };
    await runForHours(store, clock, call, 100);
    clock.advance(23.5);
    const { errors, summary } = await run(store, clock, call);
    expect({ errors, resumed: summary.resumed }).toEqual({ errors: undefined, resumed: true });
  });

  it('is not forgotten when another import removes what has expired', async () => {
    const store = await openTestStore();
    const clock = new Clock();
    const call = { orgs: [org('O')], newOrgsOnly: true };
    await runForHours(store, clock, call, 100);
    await runForHours(store, clock, { orgs: [org('P')] }, 0);
    expect((await run(store, clock, call)).summary.resumed).toBe(true);
  });

  it('goes on where another call of it ends between the reading and the renewal of what it has saved', async () => {
    const store = await openTestStore();
    const clock = new Clock();
    const call = { orgs: [org('O')] };
    let isFirst = true;
    const hooked = hookedStore(store, async (writes) => {
      const renews = writes.some(({ type, key }) => type === 'update' && key.id.includes('|note|'));
      if (!renews || !isFirst) return;
      isFirst = false;
      await run(store, clock, call);
    });
    const { errors, summary } = await run(hooked, clock, call);
    expect({ errors, failed: summary.failed, isFirst }).toEqual({ errors: undefined, failed: {}, isFirst: false });
  });

  it('voids the checkpoints of others for as long as it overwrites', async () => {
    const store = await openTestStore();
    const clock = new Clock();
    const changed = organisation('O', {
      humanUsers: numbers.map((number) => person(`O-${number}`, { userName: `n${number}` })),
    });
    await run(store, clock, { orgs: [changed] });
    await runForHours(store, clock, { orgs: [org('O')], onConflict: 'overwrite' }, 100);
    const other = { orgs: [org('P')] };
    await runForHours(store, clock, other, 0);
    expect((await run(store, clock, other)).summary.resumed).toBe(false);
  });
});
