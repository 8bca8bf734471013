import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, identity, identityResult } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { provedFile } from '../../support/fixtures/provedFile.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { identityAtTerminal, terminalMissing } from '../../support/processes/terminal.ts';
import { describeStores, keyEnvironment, sqlite } from '../../support/stores/stores.ts';

const member = { userId: 'bob', roles: ['ORG_OWNER'] };
const before = { humanUsers: [person('ada'), person('bob')], orgMembers: [member], labelPolicy: {} };

/** The call that mirrors a file without a person into an instance that has this person. */
async function mirrorCall() {
  const directory = await testDirectory();
  const { url, tokenFile, database } = await servedPlace(sqlite);
  const to = ['--to', url, '--token-file', tokenFile];
  const store = async (name: string, content: object) => {
    const file = join(directory, name);
    await writeFile(file, JSON.stringify(await provedFile([organisation('acme', content)])), { mode: 0o600 });
    return file;
  };
  const first = await store('first.json', before);
  await call(`import ${first} ${to.join(' ')}`, 0);
  const last = await store('last.json', { humanUsers: [person('ada')] });
  const args = ['import', last, ...to, '--on-conflict', 'overwrite', '--mirror'];
  const audit = async () =>
    (await call(`audit --data ${database.replace('sqlite:', '')}`, 0)).stdout
      .split('\n')
      .map((line) => line.split('\t'));
  return { args, audit, tryAgain: () => identityResult([...args, '--dry-run']) };
}

const deletions = [
  'Records to delete, because the source lacks them',
  '  person name of bob (bob) of organisation acme',
  '  org member acme_bob of organisation acme: ORG_OWNER',
  '  label policy 1',
];

describe('import --mirror', () => {
  it('names the deletions, and deletes nothing without consent', async () => {
    const { args, tryAgain } = await mirrorCall();
    const { code, stdout } = await identity(args);
    expect({ code, lines: stdout.split('\n') }).toMatchObject({
      code: 2,
      lines: expect.arrayContaining([
        'deleted: people 1, label policy 1, org members 1',
        'to delete these records without a confirmation, add --yes and --max-deleted 3',
        ...deletions,
      ]),
    });
    expect(await tryAgain()).toMatchObject({ summary: { deleted: { humanUsers: 1, orgMembers: 1, labelPolicy: 1 } } });
  });

  it('deletes with --yes and a sufficient number', async () => {
    const { args, audit, tryAgain } = await mirrorCall();
    const reporting = args.filter((word) => word !== '--on-conflict' && word !== 'overwrite');
    await call(reporting, 64, '--mirror needs --on-conflict overwrite');
    await call([...args, '--yes'], 64, '--yes with --mirror needs --max-deleted');
    const few = await call(`${args.join(' ')} --yes --max-deleted 2`, 1);
    expect(few.stderr).toContain('would delete more records than permitted (3 instead of 2)');
    const done = await identityResult([...args, '--yes', '--max-deleted', '3']);
    expect(done).toMatchObject({ code: 0, summary: { deleted: { humanUsers: 1, orgMembers: 1, labelPolicy: 1 } } });
    const deleted = (await audit()).filter(([, event]) => event === 'import.deleted');
    expect(deleted.map((cells) => cells.slice(5))).toEqual([
      ['acme_bob', 'acme'],
      ['bob ("name of bob")', 'acme'],
      ['acme', 'acme'],
    ]);
    expect(await tryAgain()).not.toHaveProperty('summary.deleted');
    await call(args, 0);
  });

  it.skipIf(terminalMissing !== undefined)('asks at a terminal for the number of deletions', async () => {
    const { args, tryAgain } = await mirrorCall();
    const few = await identityAtTerminal([...args, '--max-deleted', '2'], [['Type the number', '3\r']]);
    expect([few.code, few.stdout]).toEqual([
      1,
      expect.stringContaining('would delete more records than permitted (3 instead of 2)'),
    ]);
    const wrong = await identityAtTerminal(args, [['Type the number', '2\r']]);
    expect(wrong.code, wrong.stdout).toBe(2);
    expect(await tryAgain()).toHaveProperty('summary.deleted');
    const right = await identityAtTerminal(args, [['Type the number', '3\r']]);
    expect(right.code, right.stdout).toBe(0);
    expect(right.stdout).toContain('Deleted records, which the source lacks');
    expect(await tryAgain()).not.toHaveProperty('summary.deleted');
  });
});

describeStores('identity user delete', (kind) => {
  it('makes an older file of an organisation in which the user was a member unusable for a mirror over HTTP', async () => {
    const { url, token, location } = await servedPlace(kind);
    const owned = organisation('north', { humanUsers: [person('bob')] });
    const data_orgs = await provedFile([owned, organisation('south', { orgMembers: [member] })]);
    const send = async (more: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ data_orgs, timeout: '60s', ...more });
      const response = await fetch(`${url}/admin/v1/import`, { method: 'POST', headers, body });
      return { status: response.status, text: await response.text() };
    };
    const mirroring = { on_conflict: 'overwrite', mirror: true, max_deleted: 9, org_ids: ['south'] };
    expect((await send({})).status).toBe(200);
    expect(await send(mirroring)).toMatchObject({ status: 200, text: expect.not.stringContaining('"errors"') });
    const options = [...databaseOptions(location), '--yes'];
    const deleted = await identity(['user', 'delete', 'bob', ...options], { env: keyEnvironment(location) });
    expect(deleted.code, deleted.stderr).toBe(0);
    const refused = await send(mirroring);
    expect(refused).toEqual({ status: 400, text: expect.stringContaining('MIRROR_OUTDATED') });
    expect(refused.text).toContain('organisation south ');
  });
});

describe('identity user delete', () => {
  it.each([
    ['moved to another organisation', { acme: {}, other: { humanUsers: [person('bob')] } }],
    [
      'became a service user',
      { acme: { machineUsers: [{ userId: 'bob', user: { userName: 'bob', name: 'Bob' } }] }, other: {} },
    ],
  ])('lets a mirror that names the organisation import a person whose id %s', async (_, { acme, other }) => {
    const directory = await testDirectory();
    const { database, location } = await servedPlace(sqlite);
    const run = async (name: string, first: object, second: object, more: readonly string[]) => {
      const file = join(directory, name);
      const content = await provedFile([organisation('acme', first), organisation('other', second)]);
      await writeFile(file, JSON.stringify(content), { mode: 0o600 });
      return await identity(['import', file, '--to', database, '--json', ...more]);
    };
    expect((await run('before.json', { humanUsers: [person('bob')] }, {}, [])).code).toBe(0);
    const mirroring = ['--on-conflict', 'overwrite', '--mirror', '--yes', '--max-deleted', '9'];
    const failed = await run('1.json', acme, other, mirroring);
    expect([failed.code, failed.stdout]).toEqual([3, expect.stringContaining('"id":"bob"')]);
    const options = [...databaseOptions(location), '--yes'];
    expect((await identity(['user', 'delete', 'bob', ...options], { env: keyEnvironment(location) })).code).toBe(0);
    const refused = await run('2.json', acme, other, mirroring);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('then add --replace-changed acme: ')]);
    const done = await run('3.json', acme, other, [...mirroring, '--replace-changed', 'acme']);
    expect([done.code, done.stderr]).toEqual([0, expect.any(String)]);
    expect((await run('4.json', acme, other, mirroring)).code).toBe(0);
  });
});

describe('identity org delete', () => {
  const north = organisation('north', { humanUsers: [person('bob')] });
  const south = organisation('south', { humanUsers: [person('ada')], orgMembers: [member] });
  const emptied = organisation('south', { humanUsers: [person('ada')] });

  it.each([
    ['is deleted at the source too', [emptied]],
    ['is in the file again', [north, south]],
  ])(
    'lets a mirror that names another organisation continue if the deleted one, with a member there, %s',
    async (_, organisations) => {
      const directory = await testDirectory();
      const { database, location } = await servedPlace(sqlite);
      const run = async (name: string, content: Parameters<typeof provedFile>[0], more: readonly string[]) => {
        const file = join(directory, name);
        await writeFile(file, JSON.stringify(await provedFile(content)), { mode: 0o600 });
        return await identity(['import', file, '--to', database, '--json', ...more]);
      };
      expect((await run('before.json', [north, south], [])).code).toBe(0);
      const mirroring = ['--on-conflict', 'overwrite', '--mirror', '--yes', '--max-deleted', '0'];
      expect((await run('equal.json', [north, south], mirroring)).code).toBe(0);
      const options = [...databaseOptions(location), '--yes'];
      const deleted = await identity(['org', 'delete', 'north', ...options], { env: keyEnvironment(location) });
      expect(deleted.code, deleted.stderr).toBe(0);
      const refused = await run('1.json', organisations, mirroring);
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining('then add --replace-changed south: '),
      ]);
      const done = await run('2.json', organisations, [...mirroring, '--replace-changed', 'south']);
      expect([done.code, done.stderr]).toEqual([0, expect.any(String)]);
      expect((await run('3.json', organisations, mirroring)).code).toBe(0);
      const compared = await call(`compare ${join(directory, '3.json')} ${database} --with all`, 0);
      expect(compared.stdout).toContain('equal');
    },
  );
});
