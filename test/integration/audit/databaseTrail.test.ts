import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDatabaseTrail, cursorBefore, readEvents } from '../../../shared/audit/databaseTrail.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { auditUnwritable } from '../../../shared/errors/storeErrors.ts';
import { openStore } from '../../../shared/store/openStore.ts';
import type { Store, Trail } from '../../../shared/store/store.ts';
import { startProgram } from '../../../tools/program.ts';
import { breakTrail, changeTrail, eventsOf } from '../../support/audit/storedTrail.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { capturedLog } from '../../support/http/capturedLog.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { createUser, userKey } from '../../support/stores/documents.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const program = fileURLToPath(new URL('./databaseTrail/writeForever.ts', import.meta.url));
const logged = capturedLog();

/** An embedded database, and its trail. */
async function newDatabase(): Promise<{ directory: string; store: Store; trail: Trail }> {
  const location = await sqlite.newLocation();
  const store = await openTestStore(sqlite, location);
  if (location.kind !== 'sqlite' || store.trail === undefined) throw new Error('an embedded database has a trail');
  return { directory: location.directory, store, trail: store.trail };
}

const event = (target: string, time = new Date()) => ({
  time: time.toISOString(),
  event: 'test',
  outcome: 'ok',
  target,
});
const targets = (store: Store, after?: string) => eventsOf(store, after).map(({ target }) => target);
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

describe('an event of a transaction', () => {
  it('is committed with its writes, once after a conflict, and not at all without them', async () => {
    const { store } = await newDatabase();
    await store.commit([createUser('ada')]);
    let attempts = 0;
    await store.transaction(async (transaction) => {
      await transaction.getMany([userKey('ada')]);
      if (attempts++ === 0) await store.commit([{ type: 'update', key: userKey('ada'), fields: { sequence: 1 } }]);
      transaction.record(event('kept'));
      transaction.write([{ type: 'update', key: userKey('ada'), fields: { sequence: 2 } }]);
    });
    const failing = store.transaction(async (transaction) => {
      transaction.record(event('lost'));
      transaction.write([createUser('ada')]);
    });
    const beside = store.transaction(async (transaction) => {
      transaction.record(event('beside'));
      transaction.write([createUser('bob')]);
    });
    await expect(failing).rejects.toThrow('exists');
    await beside;
    expect(attempts).toBe(2);
    expect(targets(store)).toEqual(['kept', 'beside']);
  });

  it('fails its writes too if it cannot be written, and neither is committed', async () => {
    const { directory, store, trail } = await newDatabase();
    breakTrail(directory);
    const together = store.transaction(async (transaction) => {
      transaction.record(event('a'));
      transaction.write([createUser('ada')]);
    });
    await expect(together).rejects.toMatchObject({ reason: 'AUDIT_UNWRITABLE', httpStatus: 503 });
    await expect(trail.append(event('b'))).rejects.toMatchObject({ reason: 'AUDIT_UNWRITABLE' });
    await store.commit([createUser('bob')]);
    changeTrail(directory, 'DROP TRIGGER full');
    await trail.append(event('c'));
    expect(targets(store)).toEqual(['c']);
    expect((await readDatabase(store)).get('users')?.map(({ id }) => id)).toEqual(['bob']);
    expect(auditUnwritable.is(new Error('other'))).toBe(false);
  });
});

describe('the cursor of an event', () => {
  it('is later than that of each earlier event, whatever the clock does', async () => {
    const { store, trail } = await newDatabase();
    for (const days of [0, 400, -400, 30, 0]) await trail.append(event(String(days), daysAgo(days)));
    const events = eventsOf(store);
    expect(events.map(({ target }) => target)).toEqual(['0', '400', '-400', '30', '0']);
    const cursors = events.map(({ cursor }) => BigInt(cursor));
    expect(cursors).toEqual(cursors.toSorted((a, b) => (a < b ? -1 : 1)));
    for (const [index, { cursor }] of events.entries())
      expect(eventsOf(store, cursor)).toEqual(events.slice(index + 1));
  });

  it('is later than the events that a restored database has lost', async () => {
    const { store, trail, directory } = await newDatabase();
    await trail.append(event('kept', daysAgo(2)));
    for (const target of ['lost', 'lost too']) await trail.append(event(target, daysAgo(1)));
    const last = trail.newest();
    changeTrail(directory, `DELETE FROM trail WHERE event LIKE '%lost%'`);
    await trail.append(event('restored'));
    expect(targets(store, last)).toEqual(['restored']);
  });

  it('can be the start of a moment, before all of its events', async () => {
    const { store, trail } = await newDatabase();
    const noon = daysAgo(3);
    for (const [target, days] of [
      ['before', 4],
      ['noon', 3],
      ['set back', 5],
      ['after', 2],
    ] as const)
      await trail.append(event(target, days === 3 ? noon : daysAgo(days)));
    expect(targets(store, cursorBefore(noon))).toEqual(['noon', 'set back', 'after']);
  });

  it('can be that of a row that is not an event, which is skipped', async () => {
    const { store, trail, directory } = await newDatabase();
    await trail.append(event('a'));
    changeTrail(directory, `INSERT INTO trail SELECT 1 + max(position), 'torn' FROM trail`);
    await trail.append(event('b'));
    const damaged: string[] = [];
    const read = [...readEvents(trail, '0', (cursor) => damaged.push(cursor))];
    expect(read.map(({ target }) => target)).toEqual(['a', 'b']);
    expect(damaged).toEqual([expect.stringMatching(/^\d{16}$/)]);
    expect(targets(store, damaged[0])).toEqual(['b']);
  });
});

describe('old events', () => {
  it('are deleted in batches by a server, and never by a command, except the newest one', async () => {
    const { store, trail } = await newDatabase();
    const old = Array.from({ length: 1_200 }, (_, index) => event(`old ${index}`, daysAgo(401)));
    await Promise.all(old.map((one) => trail.append(one)));
    await createDatabaseTrail(trail).close();
    expect(targets(store)).toHaveLength(1_200);
    expect(await trail.deleteBefore(daysAgo(400))).toBe(500);
    await trail.append(event('set back', daysAgo(402)));
    const [cursor] = [trail.newest()];
    while ((await trail.deleteBefore(daysAgo(400))) > 0);
    expect(targets(store)).toEqual(['set back']);
    await trail.append(event('new', daysAgo(399)));
    expect(targets(store, cursor)).toEqual(['new']);
    const audited = createDatabaseTrail(trail, 400 * DAY_MS);
    await expect.poll(() => targets(store)).toEqual(['new']);
    await audited.close();
  });

  it('remain if they cannot be deleted, and the log contains the failure', async () => {
    const { trail } = await newDatabase();
    const broken: Trail = { ...trail, deleteBefore: () => Promise.reject(new Error('no space left')) };
    const audited = createDatabaseTrail(broken, DAY_MS);
    await expect.poll(logged).toContain('expired events of the audit trail were not deleted');
    await audited.close();
  });
});

describe('several processes', () => {
  it('with clocks that go back, and with kills, record each event with its write, and a follower skips none', async () => {
    const { directory, store, trail } = await newDatabase();
    const names = ['one', 'two', 'three'];
    const running = await Promise.all(
      names.map((name) => startProgram(process.execPath, [program, directory, name], /^4\n/m)),
    );
    const followed: string[] = [];
    let cursor = '0';
    const follow = () => {
      for (const one of readEvents(trail, cursor, () => expect.unreachable())) {
        followed.push(`${one.event} ${one.target}`);
        cursor = one.cursor;
      }
    };
    while (!running.every((one) => /^80\n/m.test(one.stdout()))) {
      follow();
      await new Promise(setImmediate);
    }
    const ended = await Promise.all(running.map((one) => one.stop('SIGKILL')));
    follow();
    const events = eventsOf(store).map(({ event: name, target }) => `${name} ${target}`);
    expect(followed).toEqual(events);
    const users = (await readDatabase(store)).get('users')?.map(({ id }) => id) ?? [];
    const odd = events.filter((one) => Number(one.split(' ')[1]) % 2 === 1);
    expect(users.toSorted()).toEqual(odd.toSorted());
    for (const [index, name] of names.entries()) {
      const durable = ended[index]?.stdout.split('\n').filter((line) => line !== '').length ?? 0;
      const numbers = events.filter((one) => one.startsWith(`${name} `)).map((one) => Number(one.split(' ')[1]));
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, number) => number));
      expect(numbers.length).toBeGreaterThanOrEqual(durable);
    }
  });
});

it('no export, import, comparison or manifest reads the trail: all are the same without its table', async () => {
  const { directory, store, trail } = await newDatabase();
  const { export: exportAll, import: importFile } = await testInstance(store);
  await importFile({ data_orgs: { orgs: [organisation('O', { humanUsers: [person('ada')] })] } });
  await trail.append(event('marker'));
  const withTrail = await exportAll({ org_ids: ['O'] });
  changeTrail(directory, 'DROP TABLE trail');
  const { manifest, orgs } = await exportAll({ org_ids: ['O'] });
  expect({ ...manifest, readTime: undefined }).toEqual({ ...withTrail.manifest, readTime: undefined });
  expect(orgs).toEqual(withTrail.orgs);
  expect(withTrail.bytes).not.toContain('marker');
  const { summary } = await importFile({ data_orgs: { orgs, manifest }, on_conflict: 'overwrite' });
  expect(summary).toMatchObject({ proved: true, created: {}, unchanged: { org: 1, humanUsers: 1 } });
  const other = await openStore({ kind: 'sqlite', directory });
  onTestFinished(() => other.close());
  expect(() => eventsOf(other)).toThrow('database error');
});
