import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { warn } from '../../../shared/errors/warnings.ts';
import { call, calling, identity, identityResult } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { exportFileWith, migrate, planOf, prepareMigration } from '../../support/migrations/migrating.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';
import type { ZitadelBehaviour } from '../../support/zitadel/behaviour.ts';
import { exportFromZitadel } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';
import type { ZitadelStandIn } from '../../support/zitadel/standIn.ts';

const all = ['--with', 'passwords,otp,keys'];

const states = ['ACTIVE', 'LOCKED', 'INACTIVE'].map((state) => ({ state: `USER_STATE_${state}` }));
const [ada, bob, eve] = people(3).map((person, index) => ({ ...person, ...states[index] }));
const robots = ['31', '32'].map((userId, index) => ({
  userId,
  user: { userId, userName: `robot ${userId}`, name: 'Robot' },
  state: `USER_STATE_${['ACTIVE', 'INACTIVE'][index]}`,
}));
const acme = organisation('acme', { humanUsers: [ada, bob, eve], machineUsers: robots });
/** The header of the organisation needs another form for this id. */
const closed = organisation('ünï', { humanUsers: people(1, 10), orgState: 'ORG_STATE_INACTIVE' });

/** A ZITADEL of release 2 or 3, as if it had been for long. */
const oldZitadel = (given: Partial<ZitadelBehaviour> = {}) =>
  filledZitadel([acme, closed], { release: '2.71', ...given });
const searches = ({ requests }: ZitadelStandIn) => requests.filter(({ path }) => path.endsWith('/ListUsers'));

const exportedStates = [
  {
    orgId: 'acme',
    orgState: 'ORG_STATE_ACTIVE',
    humanUsers: states,
    machineUsers: [{ state: 'USER_STATE_ACTIVE' }, { state: 'USER_STATE_INACTIVE' }],
  },
  { orgId: 'ünï', orgState: 'ORG_STATE_INACTIVE', humanUsers: [{ state: 'USER_STATE_ACTIVE' }] },
];

describe('an export from a ZITADEL that exports no states', () => {
  it('has the states that its searches return, of selected organisations too', async () => {
    const { zitadel } = await oldZitadel();
    const [, ...whole] = (await exportFromZitadel(zitadel)).orgs;
    expect(whole).toMatchObject(exportedStates);
    expect((await exportFromZitadel(zitadel, ['acme', 'ünï'])).orgs).toMatchObject(exportedStates);
  });

  it('has those of an organisation that it returns over gRPC-Web only, and of more users than one search takes', async () => {
    const humanUsers = people(501).map((person) => ({ ...person, state: 'USER_STATE_LOCKED' }));
    const { zitadel } = await filledZitadel([organisation('large', { humanUsers })], {
      release: '2.71',
      maxMessageBytes: 10_000,
    });
    const [large] = (await exportFromZitadel(zitadel, ['large'])).orgs;
    expect(JSON.stringify(large).match(/USER_STATE_LOCKED/g)).toHaveLength(501);
    // The first one counts the users.
    expect(searches(zitadel)).toHaveLength(3);
  });

  it('only counts the users of each organisation if the export has states', async () => {
    const { zitadel } = await oldZitadel({ release: '4.0' });
    expect((await exportFromZitadel(zitadel, ['acme', 'ünï'])).orgs).toMatchObject(exportedStates);
    expect(searches(zitadel)).toHaveLength(2);
  });

  it.each<[string, Partial<ZitadelBehaviour>, string]>([
    [
      'may not be searched',
      { hidesUsers: true },
      '3 people such as 350000000000000000, 350000000000000001, 350000000000000002, and 2 service users such as 31, 32 (',
    ],
    [
      'are not found',
      { findsUser: (userId) => userId !== bob?.userId },
      '1 person such as 350000000000000001 (a search in ZITADEL does not return the states)',
    ],
  ])('writes nothing if users %s, unless the call specifies their state', async (_why, behaviour, unknown) => {
    const { zitadel, tokenFile } = await oldZitadel(behaviour);
    const file = join(await testDirectory(), 'acme.json');
    const exporting = ['export', zitadel.url, '--token-file', tokenFile, '--org', 'acme', '--to', file];
    const remedy = 'exclude the organisation with --exclude-org acme, or treat records with unknown states';
    await call(exporting, 1, `in organisation acme are unknown: ${unknown}`, remedy);
    expect(existsSync(file)).toBe(false);
    expect(await identityResult([...exporting, '--accept', 'unknown-states'])).toMatchObject({
      code: 0,
      notices: [{ reason: 'states_not_returned', message: expect.stringContaining(unknown) }],
    });
    const [acme] = JSON.parse(await readFile(file, 'utf8')).orgs;
    // What is known is kept.
    expect(acme).toMatchObject({ orgState: 'ORG_STATE_ACTIVE' });
    expect(acme.humanUsers[1].state).toBeUndefined();
    const warning = `in organisation acme, which therefore count as active: ${unknown}`;
    await call(['inspect', ...exporting.slice(1, 6), '--accept', 'unknown-states'], 0, warning);
  });
});

describe('a migration from a ZITADEL that exports no states', () => {
  it('keeps out whom the source keeps out, and proves it', async () => {
    const { zitadel, tokenFile } = await oldZitadel();
    const north = await servedPlace(sqlite);
    const from = ['--from', zitadel.url, '--from-token-file', tokenFile];
    const result = await migrate([...from, '--to', north.database, ...all, '--yes'], await prepareMigration(north));
    expect(result).toMatchObject({
      outcome: 'done',
      warnings: [],
      proof: { expected: 0, unexpected: 0, sections: { org: { equal: 2 }, humanUsers: { equal: 4 } } },
      credentials: { withPassword: 4, kept: 4 },
    });
    const { env } = await prepareMigration(north);
    const file = join(await testDirectory(), 'north.json');
    await identity(['export', north.database, '--to', file, '--org', 'acme', '--org', 'ünï'], { env });
    const { orgs } = JSON.parse(await readFile(file, 'utf8'));
    expect(orgs).toMatchObject(exportedStates);
    // A person who is let in afterwards is a difference.
    const userId = bob?.userId ?? '';
    await identity(['user', 'unlock', userId, '--data', north.database.slice('sqlite:'.length)], { env });
    const sides = ['compare', zitadel.url, north.database, '--token-file', tokenFile, '--org', 'acme'];
    await calling({ env })(sides, 3, 'state: "USER_STATE_LOCKED" | "USER_');
  });

  it('stops before it writes anything if states stay unknown, unless the call specifies them', async () => {
    const { zitadel, tokenFile } = await oldZitadel({ hidesUsers: true });
    const north = await servedPlace(sqlite);
    const migrating = await prepareMigration(north);
    const from = ['--from', zitadel.url, '--from-token-file', tokenFile, '--org', 'acme', '--to', north.database];
    const callThere = calling(migrating);
    await callThere(['migrate', ...from, ...all, '--yes'], 1, '--accept unknown-states');
    const { stdout } = await callThere(`org list --data ${north.database.slice('sqlite:'.length)}`, 0);
    expect(stdout).not.toContain('acme');
    const agreed = [...from, ...all, '--accept', 'unknown-states'];
    const warning = 'in organisation acme, which therefore count as active: 3 people such as 35';
    await callThere(['migrate', '--dry-run', ...agreed], 0, warning);
    const result = await migrate([...agreed, '--yes'], await prepareMigration(north));
    expect(result.warnings).toContainEqual({
      type: 'export',
      reason: 'states_not_returned',
      message: expect.stringContaining(warning),
      params: expect.objectContaining({ organisation: 'acme' }),
    });
  });
});

describe('a migration to a ZITADEL that imports no states', () => {
  it('closes whom the source keeps out, and proves it', async () => {
    const { zitadel, tokenFile } = await filledZitadel([], { release: '2.71' });
    const file = await exportFileWith(acme, closed);
    const migrating = { env: {}, cwd: await testDirectory() };
    const places = ['--from', file, '--to', zitadel.url, '--to-token-file', tokenFile, ...all];
    const plan = await planOf([...places], migrating);
    expect(plan.credentials).toMatchObject({ withPassword: 4, kept: 1 });
    const result = await migrate([...places, '--yes'], migrating);
    for (const { leftToDo } of [plan, result]) expect(JSON.stringify(leftToDo)).not.toMatch(/deactivate|lock/);
    const sections = { org: { equal: 2 }, humanUsers: { equal: 4 }, machineUsers: { equal: 2 } };
    expect(result).toMatchObject({ outcome: 'done', proof: { unexpected: 0, sections }, credentials: { kept: 1 } });
  });

  it('lists who is open there, and ends with differences, if they cannot be closed', async () => {
    const { zitadel, tokenFile } = await filledZitadel([], { release: '2.71', closing: () => 'ignored' });
    const file = await exportFileWith(acme, closed);
    const places = ['--from', file, '--to', zitadel.url, '--to-token-file', tokenFile, ...all];
    const result = await migrate([...places, '--yes'], { env: {}, cwd: await testDirectory() }, 3);
    expect(result).toMatchObject({ outcome: 'listed', proof: { unexpected: 4 } });
    const entry = (type: string, id: string | undefined, source: string, remedy: string) => ({
      ...{ type, id },
      ...warn('access_given', { now: 'active', source, remedy }),
    });
    const open = [
      entry('org', 'ünï', 'inactive', 'deactivate'),
      entry('human_user', bob?.userId, 'locked', 'lock'),
      entry('human_user', eve?.userId, 'inactive', 'deactivate'),
      entry('machine_user', '32', 'inactive', 'deactivate'),
    ];
    expect(result.leftToDo).toEqual(expect.arrayContaining(open));
    for (const { type, id } of open) expect(result.errors).toContainEqual(expect.objectContaining({ type, id }));
  });
});
