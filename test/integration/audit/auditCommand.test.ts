import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { auditEvent } from '../../../shared/audit/auditEvent.ts';
import { run, startProgram } from '../../../tools/program.ts';
import { changeTrail, eventsIn } from '../../support/audit/storedTrail.ts';
import { call, identity, identityJson } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const trail = z.strictObject({ events: z.array(auditEvent) });
const [node, script] = identityProgram;

const canMount = await run('unshare', ['-rm', 'true']).then(
  ({ code }) => code === 0,
  () => false,
);

/** The directory of a new instance, with the two events of `identity init`. */
async function newInstance(): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const data = join(path, 'north');
  await identityJson(['init', '--data', data]);
  return data;
}

/** A call that has two events. */
const lock = (data: string) => identity(['user', 'lock', 'nobody', '--data', data]);

/** Starts to follow a trail, and waits until an event has been printed. */
async function follow(data: string, args: readonly string[], ready: RegExp) {
  const following = await startProgram(node, [script, 'audit', '--follow', '--data', data, ...args], ready);
  onTestFinished(async () => void (await following.stop('SIGKILL')));
  const printed = () =>
    following
      .stdout()
      .split('\n')
      .filter((line) => line !== '');
  return { ...following, printed, events: () => printed().map((line) => readEvent.parse(JSON.parse(line))) };
}

const readEvent = z.looseObject({ event: z.string(), outcome: z.string(), cursor: z.string() });

const organisations = z.object({ organisations: z.tuple([z.object({ orgId: z.string() })]) });

/** Returns the only organisation of a new instance. */
async function defaultOrganisationOf(data: string): Promise<string> {
  const [{ orgId }] = organisations.parse(await identityJson(['org', 'list', '--data', data])).organisations;
  return orgId;
}

describe('identity audit', () => {
  it('lists the events of a time span, as JSON and as a table', async () => {
    const data = await newInstance();
    const old = {
      time: '2020-01-01T00:00:00.000Z',
      event: 'export.denied',
      outcome: 'UNAUTHENTICATED',
      remote: '\u001b[2J',
      target: '-',
      orgIds: ['a,b', '… (5,000)', '\u{2800}\u{9b}2J\u{e0001}', ' x', 'acme_1.org-2'],
    };
    // The events of `init` can be of the present millisecond.
    const behind = Date.now() + 1;
    changeTrail(
      data,
      `INSERT INTO trail VALUES (${Date.parse(old.time)}000, '${JSON.stringify(old)}'); INSERT INTO trail VALUES (${behind}000, 'torn')`,
    );
    const asJson = await call(`audit --json --data ${data}`, 3);
    const { events } = trail.parse(JSON.parse(asJson.stdout));
    expect(events.map(({ event, outcome }) => [event, outcome])).toEqual([
      ['command.init', 'started'],
      ['command.init', 'ok'],
    ]);
    const { code, stdout, stderr } = await identity(['audit', '--since', '9999d', '--data', data]);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    const ids = '"a,b","… (5,000)","\u{2800}\\u{9b}2J\\u{e0001}"," x",acme_1.org-2';
    expect(rows[0]).toEqual([old.time, old.event, old.outcome, '-', '"\\u001b[2J"', '"-"', ids]);
    const { stdout: allJson } = await identity(['audit', '--since', '9999d', '--json', '--data', data]);
    expect(JSON.parse(allJson).events[0]).toMatchObject(old);
    expect(allJson).toContain('\\u009b2J\\udb40\\udc01"');
    expect(rows[2]?.slice(1, 3)).toEqual(['command.init', 'ok']);
    expect(code).toBe(3);
    expect(stderr).toMatch(/event \d{13}000 is damaged, skipped\n$/);
    await call(
      `audit --since yesterday --data ${data}`,
      64,
      'identity: invalid --since yesterday: specify a duration such as 7d or 12h, or a date',
    );
    expect((await identity(['audit', '--firestore', 'nobody'])).stderr).toContain('log bucket of Cloud Logging');
  });

  it('lists the events of a user and of an operation since a date, with names', async () => {
    const data = await newInstance();
    const add = (time: string, target: string, name = 'otpEmail.removed') => {
      const event = { time, event: name, outcome: 'ok', target };
      changeTrail(data, `INSERT INTO trail VALUES (${Date.parse(time)}000, '${JSON.stringify(event)}')`);
    };
    const orgId = await defaultOrganisationOf(data);
    const { userId } = z
      .object({ userId: z.string() })
      .parse(await identityJson(['service-user', 'create', 'ann', '--org', orgId, '--data', data]));
    add('2026-11-23T23:59:59.999Z', userId);
    add('2026-11-24T00:00:00.000Z', userId);
    add('2026-11-25T00:00:00.000Z', 'another');
    add('2026-11-26T00:00:00.000Z', userId, 'command.otpEmailEnable');
    add('2026-11-27T00:00:00.000Z', userId, 'command.userLock');
    const call = ['audit', '--since', '2026-11-24', '--operation', 'otp-email', '--user', userId, '--data', data];
    expect(await identityJson(call)).toMatchObject({
      events: [
        { time: '2026-11-24T00:00:00.000Z', target: userId, targetName: 'ann' },
        { event: 'command.otpEmailEnable', target: userId, targetName: 'ann' },
      ],
    });
    const { stdout } = await identity(call);
    expect(stdout).toContain(`${userId} (ann)`);
    expect(stdout).not.toContain('another');
  });

  it('keeps the names of users who are deleted', async () => {
    const data = await newInstance();
    const orgId = await defaultOrganisationOf(data);
    const { userId } = z
      .object({ userId: z.string() })
      .parse(await identityJson(['service-user', 'create', 'ann', '--org', orgId, '--data', data]));
    await identityJson(['user', 'lock', userId, '--data', data]);
    await identityJson(['service-user', 'delete', userId, '--data', data]);
    const ben = await identityJson(['service-user', 'create', 'ben', '--org', orgId, '--data', data]);
    const { userId: named } = z.object({ userId: z.string() }).parse(ben);
    await identityJson(['user', 'delete', named, '--yes', '--data', data]);
    const exported = { time: new Date().toISOString(), event: 'export.finished', outcome: 'ok', userId };
    const removed = { ...exported, event: 'otpEmail.removed', userId: 'gone', target: userId };
    changeTrail(
      data,
      `INSERT INTO trail VALUES (${Date.now() + 1_000}000, '${JSON.stringify(exported)}'), (${Date.now() + 1_000}001, '${JSON.stringify(removed)}')`,
    );
    await identity(['user', 'lock', 'never', '--data', data]);
    const { stdout } = await identity(['audit', '--data', data]);
    const cells = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    const cellsOf = (event: string) =>
      cells.filter(([, name]) => name === event).map(([, , outcome, user, , target]) => [outcome, user, target]);
    const account = expect.any(String);
    const deleted = `${userId} (ann)`;
    expect(cellsOf('command.userDelete').at(-1)).toEqual(['ok', account, `${named} (ben)`]);
    expect(cellsOf('command.userLock')).toEqual([
      ['started', account, deleted],
      ['ok', account, deleted],
      ['started', account, 'never'],
      ['NOT_FOUND', account, 'never'],
    ]);
    expect(cellsOf('command.serviceUserDelete')).toContainEqual(['ok', account, deleted]);
    expect(cellsOf('command.serviceUserCreate')).toContainEqual(['ok', account, 'ann']);
    expect(cellsOf('export.finished')).toEqual([['ok', deleted, '-']]);
    expect(cellsOf('otpEmail.removed')).toEqual([['ok', 'gone (deleted)', deleted]]);
  });

  it('lists the events of a user by name, even if the user is deleted', async () => {
    const data = await newInstance();
    const created = await identityJson(['service-user', 'create', 'robo', '--data', data]);
    const { userId } = z.object({ userId: z.string() }).parse(created);
    const removed = { time: new Date().toISOString(), event: 'otpEmail.removed', outcome: 'ok', userId, target: 'ada' };
    changeTrail(data, `INSERT INTO trail VALUES (${Date.now() + 1_000}000, '${JSON.stringify(removed)}')`);
    await identityJson(['service-user', 'delete', userId, '--data', data]);
    const { events } = trail.parse(await identityJson(['audit', '--user', 'robo', '--data', data]));
    expect(new Set(events.map(({ event }) => event))).toEqual(
      new Set(['command.serviceUserCreate', 'otpEmail.removed', 'command.serviceUserDelete']),
    );
    expect(events).toContainEqual(expect.objectContaining({ ...removed, userName: 'robo' }));
  });

  it('keeps the names of users who are deleted with their organisation', async () => {
    const data = await newInstance();
    const file = join(data, '..', 'acme.json');
    const acme = organisation('acme', { humanUsers: [person('ada', { userName: 'ada.l' })] });
    await writeFile(file, JSON.stringify({ orgs: [acme] }));
    await identity(['import', file, '--to', `sqlite:${data}`]);
    await identityJson(['user', 'lock', 'ada', '--data', data]);
    await identityJson(['org', 'delete', 'acme', '--yes', '--data', data]);
    const { stdout } = await identity(['audit', '--user', 'ada', '--data', data]);
    expect(stdout.match(/command\.userLock\t.*\tada \(ada\.l\)/g)).toHaveLength(2);
  });

  it('marks trials, in the table and as JSON', async () => {
    const data = await newInstance();
    const file = join(data, '..', 'north.json');
    await writeFile(file, JSON.stringify({ orgs: [{ orgId: 'acme', org: { name: 'Acme' } }] }));
    await identity(['import', file, '--dry-run', '--to', `sqlite:${data}`]);
    await identity(['import', file, '--to', `sqlite:${data}`]);
    const { stdout } = await identity(['audit', '--data', data]);
    const called = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t')[1]);
    const init = ['command.init', 'command.init'];
    const trial = ['import.started (trial)', 'import.finished (trial)'];
    expect(called).toEqual([...init, ...trial, 'import.started', 'import.finished']);
    const { events } = trail.parse(JSON.parse((await identity(['audit', '--json', '--data', data])).stdout));
    expect(events.filter((event) => event.trial === true)).toHaveLength(2);
  });

  it('lists the events after a given event, by its cursor', async () => {
    const data = await newInstance();
    const [first] = await eventsIn(data);
    const list = (cursor: string) => identity(['audit', '--after', cursor, '--json', '--data', data]);
    const { events } = trail.parse(JSON.parse((await list(first?.cursor ?? '')).stdout));
    expect(events).toEqual([expect.objectContaining({ event: 'command.init', outcome: 'ok' })]);
    expect(trail.parse(JSON.parse((await list('0')).stdout)).events).toEqual(await eventsIn(data));
    expect(await list('9'.repeat(18))).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('is later than every event of this instance'),
    });
    expect(await list('last')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('specify the cursor of an event, or 0'),
    });
    const both = await identity(['audit', '--after', '0', '--since', '1d', '--data', data]);
    expect(both).toMatchObject({ code: 64, stderr: expect.stringContaining('mutually exclusive') });
  });
});

describe.skipIf(process.platform === 'win32')('identity audit --follow', () => {
  it('prints each event once it is recorded, and continues after a kill behind the last cursor', async () => {
    const data = await newInstance();
    const first = await follow(data, ['--json', '--after', '0'], /"command.init","outcome":"ok"/);
    await lock(data);
    await first.written('"outcome":"NOT_FOUND"');
    await first.stop('SIGKILL');
    await lock(data);
    const cursor = first.events().at(-1)?.cursor ?? '';
    const second = await follow(data, ['--json', '--after', cursor], /NOT_FOUND/);
    expect([...first.events(), ...second.events()]).toEqual(await eventsIn(data));
    expect(await second.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });

  it('begins a day ago without a cursor, and prints cells without --json', async () => {
    const data = await newInstance();
    const old = JSON.stringify({ time: '2020-01-01T00:00:00.000Z', event: 'old', outcome: 'ok' });
    changeTrail(data, `INSERT INTO trail VALUES (1577836800000000, '${old}')`);
    const following = await follow(data, [], /init\tok/);
    await lock(data);
    await following.written('NOT_FOUND');
    const names = following.printed().map((line) => line.split('\t').slice(1, 3).join(' '));
    const [init, user] = ['command.init', 'command.userLock'];
    expect(names).toEqual([`${init} started`, `${init} ok`, `${user} started`, `${user} NOT_FOUND`]);
    expect((await following.stop('SIGINT')).code).toBe(0);
  });

  it('ends once its database is replaced, after the events of the old one', async () => {
    const data = await newInstance();
    const following = await follow(data, ['--json'], /"command.init","outcome":"ok"/);
    await rename(data, `${data}.old`);
    await identityJson(['init', '--data', data]);
    expect(await following.ended()).toMatchObject({
      code: 1,
      stderr: `identity: ${join(data, 'identity.sqlite')} was moved or replaced: start the command again\n`,
    });
    expect(following.events()).toEqual(await eventsIn(`${data}.old`));
  });
});

it.skipIf(!canMount)(
  'a database as a place is rejected if it is read-only (skipped if mounts are not permitted)',
  async () => {
    const data = await newInstance();
    const mount = `mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$0" "${script}" export "sqlite:$1" --to "$1.json"`;
    const { code, stderr } = await run('unshare', ['-rm', 'sh', '-c', mount, node, data]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `identity: the database in ${data} cannot be written, and each call must be recorded there: correct the permissions, or restore a backup into a writable directory\n`,
    });
  },
);
