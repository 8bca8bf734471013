import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { openStore } from '../../../shared/store/openStore.ts';
import type { Store } from '../../../shared/store/store.ts';
import { send } from '../../support/http/wire.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import type { Contents } from '../../support/stores/database.ts';
import { anyMissing, arrival } from './arrival.ts';
import type { Place } from './faultTable.ts';
import type { Killable } from './killable.ts';
import { migration } from './migration.ts';
import { randomOf } from './random.ts';
import { expectAllIn, expectComplete, expectSound, type Undisturbed, undisturbed } from './undisturbed.ts';

const PEOPLE = 150;
/** How often an import is killed before it may finish. */
const KILLS_OF_ONE_IMPORT = 10;
/** One process waits for its kill while the process of another starts. */
const LANES = 2;
const SHARE_OF_KILLS_AT_ONCE = 0.5;
/** The delay of the other kills after the first stored record, up to this time: during a later commit, or after it. */
const LATEST_MS = 30;
/** This many are killed before anything is written: while the request arrives, or is checked. */
const SHARE_OF_EARLY_KILLS = 0.1;

/** The remaining kills, and the outcomes of the earlier ones. */
interface Tally {
  left: number;
  /** The remaining kills that must leave some of the file in the database, but not all; the others prove little. */
  partialLeft: number;
}

function isDone({ left, partialLeft }: Tally): boolean {
  return left <= 0 && partialLeft <= 0;
}

/**
 * Kills the importing programs as often as requested, or more often until enough kills have left a part of the file. Checks
 * the database after each kill; every import is completed in the end.
 */
export async function killAll(place: Place, make: () => Promise<Killable>, wanted: number): Promise<void> {
  const expected = await undisturbed(migration(PEOPLE));
  const tally: Tally = { left: wanted, partialLeft: wanted / 5 };
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    const random = randomOf(`kills on ${place}, lane ${lane}`);
    while (!isDone(tally)) await oneImport(await make(), expected, tally, random);
  });
  await Promise.all(lanes);
}

/** One import, killed repeatedly, and completed in the end. */
async function oneImport(killable: Killable, expected: Undisturbed, tally: Tally, random: () => number): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  cleanUp.defer(() => killable.remove());
  const token = await withStore(killable, async (store) => (await testInstance(store)).token);
  let present: Contents = new Map();
  for (let made = 0; made < KILLS_OF_ONE_IMPORT && !isDone(tally); made++) {
    tally.left--;
    const answered = await killed(killable, expected, present, token, random);
    const before = present;
    present = await withStore(killable, (store) => expectSound(store, expected));
    // A written record never disappears.
    expect([...before.keys()].filter((name) => !present.has(name))).toEqual([]);
    if (present.size > 0 && present.size < expected.contents.size) tally.partialLeft--;
    // An import that ends before its kill does not count as killed.
    if (answered) tally.left++;
    if (present.size === expected.contents.size) break;
  }
  const running = await killable.start();
  cleanUp.defer(async () => void (await running.stop('SIGKILL')));
  const { status, text } = await sendFile(running.ready[1] ?? '', expected, token);
  expect(status, text).toBe(200);
  expectAllIn(text, expected);
  await withStore(killable, (store) => expectComplete(store, expected));
}

/** Sends the file to a new process and kills it soon after a record was stored; returns whether it responded before. */
async function killed(
  killable: Killable,
  expected: Undisturbed,
  present: Contents,
  token: string,
  random: () => number,
): Promise<boolean> {
  const running = await killable.start();
  const over = new AbortController();
  const sending = sendFile(running.ready[1] ?? '', expected, token)
    .catch(() => undefined)
    .finally(() => over.abort());
  const record = random() < SHARE_OF_EARLY_KILLS ? undefined : anyMissing(expected.contents, present, random);
  if (record !== undefined) {
    await withStore(killable, async (store) => {
      await arrival(store, record, over.signal);
      // At once; the others leave a database that no process has open.
      if (random() < SHARE_OF_KILLS_AT_ONCE) void running.stop('SIGKILL');
    });
  }
  await setTimeout(random() * LATEST_MS);
  await running.stop('SIGKILL');
  const answer = await sending;
  if (answer !== undefined) expect(answer.status, answer.text).toBe(200);
  return answer !== undefined;
}

function sendFile(url: string, { body }: Undisturbed, token: string) {
  const headers = { 'content-type': 'application/json' };
  return send({ url }, { method: 'POST', path: '/admin/v1/import', token, body, headers });
}

// Opened and closed each time, so that the check reads the database as the killed process has left it.
async function withStore<Result>({ location }: Killable, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStore(location);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
