import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { provedFile } from '../../support/fixtures/provedFile.ts';
import { exportFileWith, migrate, planOf, prepareMigration } from '../../support/migrations/migrating.ts';
import { type ServedPlace, servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { identityAtTerminal, terminalMissing } from '../../support/processes/terminal.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const mirror = ['--with', 'all', '--on-conflict', 'overwrite', '--mirror'];
const project = { projectId: 'shop', project: { name: 'Shop' } };
const grantOf = (userId: string) => ({ userId, projectId: 'shop', roleKeys: ['buyer'] });
const ownerOf = (userId: string) => ({ userId, roles: ['ORG_OWNER'] });
const common = { projects: [project], projectRoles: [{ projectId: 'shop', roleKey: 'buyer', displayName: 'Buyer' }] };
const before = {
  ...common,
  humanUsers: [person('ada'), person('bob')],
  orgMembers: [ownerOf('ada'), ownerOf('bob')],
  userGrants: [grantOf('ada'), grantOf('bob')],
  labelPolicy: {},
};
const after = { ...common, humanUsers: [person('ada')], orgMembers: [ownerOf('ada')], userGrants: [grantOf('ada')] };
const deleted = { humanUsers: 1, orgMembers: 1, userGrants: 1, labelPolicy: 1 };
const deletions = [
  'Records to delete, because the source lacks them',
  '  person name of bob (bob) of organisation acme',
  '  org member acme_bob of organisation acme: ORG_OWNER',
  '  user grant acme_shop_bob of organisation acme: buyer',
  '  label policy 1',
];

/** Makes an organisation of an instance what a file of another one has. */
async function fill({ database }: Pick<ServedPlace, 'database'>, content: object, minute: number) {
  const file = join(await testDirectory(), `${minute}.json`);
  const readTime = `2026-01-02T03:0${minute}:00.000Z`;
  await writeFile(file, JSON.stringify(await provedFile([organisation('acme', content)], { readTime })));
  const mirroring = ['--on-conflict', 'overwrite', '--mirror', '--yes', '--max-deleted', '9'];
  const filled = await identity(['import', file, '--to', database, ...mirroring]);
  expect(filled.code, filled.stderr).toBe(0);
}

/** Two instances: the source has lost some records since the first migration. */
async function secondPass(content: object = after) {
  const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
  await fill(north, before, 1);
  const places = ['--from', north.database, '--to', south.url, '--to-token-file', south.tokenFile];
  await migrate([...places, '--with', 'all', '--yes'], await prepareMigration(north));
  await fill(north, content, 2);
  return { north, south, args: [...places, ...mirror] };
}

describe('identity migrate --mirror', () => {
  it.each(['an instance', 'a file'])('deletes what %s lacks, and proves both directions', async (kind) => {
    const { north, south } = await secondPass();
    const file = join(await testDirectory(), 'north.json');
    expect((await identity(['export', north.database, '--org', 'acme', '--with', 'all', '--to', file])).code).toBe(0);
    const sources = {
      'an instance': ['--from', north.url, '--from-token-file', north.tokenFile],
      'a file': ['--from', file],
    };
    const source = Object.entries(sources).find(([name]) => name === kind)?.[1] ?? [];
    const args = [...source, '--to', south.database, ...mirror];
    const result = await migrate([...args, '--yes', '--max-deleted', '4'], await prepareMigration(north));
    expect(result).toMatchObject({
      outcome: 'done',
      options: { mirror: true },
      deleted,
      moved: { imported: { unchanged: { humanUsers: 1 } } },
      proof: { unexpected: 0, expected: 0, sections: { humanUsers: { equal: 1, onlyTarget: 0 } } },
      targetEqualAt: expect.any(String),
    });
    expect(result.deletions?.map(({ type, id }) => `${type} ${id}`)).toEqual([
      'human_user bob',
      'org_member acme_bob',
      'user_grant acme_shop_bob',
      'label_policy acme',
    ]);
    expect(Date.parse(result.sourceReadAt ?? '')).toBeLessThanOrEqual(Date.parse(result.targetEqualAt ?? ''));
    expect(result.takeBack.at(-1)?.what).toContain('this run deleted 4 records in');
    const again = await migrate([...args, '--yes', '--max-deleted', '0'], await prepareMigration(north));
    expect(again).toMatchObject({ outcome: 'done', deleted: {}, deletions: [] });
  });

  it('lists in its plan and in its reports what it deletes, and changes nothing without consent to the number', async () => {
    const { north, args } = await secondPass();
    const migrating = await prepareMigration(north);
    const page = join(migrating.cwd, 'plan.html');
    const { code, stdout } = await identity(['migrate', ...args, '--report', page], migrating);
    expect({ code, lines: stdout.split('\n') }).toMatchObject({ code: 2, lines: expect.arrayContaining(deletions) });
    expect(await planOf(args, migrating)).toMatchObject({
      deleted,
      deletions: [{ id: 'bob', name: 'name of bob' }, {}, {}, {}],
    });
    const few = await identity(['migrate', ...args, '--yes', '--max-deleted', '3'], migrating);
    expect([few.code, few.stderr]).toEqual([
      1,
      expect.stringContaining('would delete more records than permitted (4 instead of 3), and has'),
    ]);
    expect(await planOf(args, migrating)).toMatchObject({ deleted });
    const done = join(migrating.cwd, 'done.html');
    const ended = await identity(['migrate', ...args, '--yes', '--max-deleted', '4', '--report', done], migrating);
    expect(ended.code, ended.stderr).toBe(0);
    const equal = /^the source was read at 2\S+Z; at 2\S+Z, [\d.]+s later, the target was equal$/m;
    expect(ended.stdout).toMatch(equal);
    expect(ended.stdout).toContain('deleted: people 1, label policy 1, org members 1, user grants 1');
    const texts = await readFile(done, 'utf8');
    expect(texts).toMatch(/the source was read at 2\S+Z; at 2\S+Z, [\d.]+s later, the target was equal/);
    expect(texts).toContain('person name of bob (bob) of organisation acme');
  });

  it('takes the digest of a dry run as consent to its deletions, and to no others', async () => {
    const { north, args } = await secondPass({ ...after, humanUsers: [person('ada'), person('bob')] });
    const migrating = await prepareMigration(north);
    const { digest, next } = z
      .looseObject({ digest: z.string(), next: z.string() })
      .parse(await planOf(args, migrating));
    expect(next).toContain(`--mirror --expect ${digest} --yes`);
    await fill(north, after, 3);
    const changed = await identity(['migrate', ...args, '--expect', digest, '--yes'], migrating);
    expect(changed.code).toBe(2);
    const shown = z.looseObject({ digest: z.string() }).parse(await planOf(args, migrating));
    const result = await migrate([...args, '--expect', shown.digest, '--yes'], migrating);
    expect(result).toMatchObject({ outcome: 'done', deleted });
  });

  it.skipIf(terminalMissing !== undefined)('asks at a terminal for the number of deletions', async () => {
    const { args } = await secondPass();
    const few = await identityAtTerminal(
      ['migrate', ...args, '--max-deleted', '3'],
      [['Type the number of records', '4\r']],
    );
    expect([few.code, few.stdout]).toEqual([
      1,
      expect.stringContaining('would delete more records than permitted (4 instead of 3)'),
    ]);
    const wrong = await identityAtTerminal(['migrate', ...args], [['Type the number of records to delete', '3\r']]);
    expect(wrong.code, wrong.stdout).toBe(2);
    const right = await identityAtTerminal(['migrate', ...args], [['Type the number of records to delete', '4\r']]);
    expect(right.code, right.stdout).toBe(0);
    expect(right.stdout).toContain('Deleted records, which the source lacks');
  });

  it('ends with 3, and deletes nothing, if a record outside of the source needs one that it lacks', async () => {
    const { north, south, args } = await secondPass({});
    const other = organisation('other', {
      humanUsers: [person('eve')],
      orgMembers: [{ userId: 'bob', roles: ['ORG_OWNER'] }],
    });
    expect((await identity(['import', await exportFileWith(other), '--to', south.database])).code).toBe(0);
    const result = await migrate([...args, '--yes', '--max-deleted', '20'], await prepareMigration(north), 3);
    expect(result).toMatchObject({
      outcome: 'listed',
      deleted: {},
      errors: [{ id: 'bob', reason: 'deletion_referenced' }],
    });
    expect(result).not.toHaveProperty('targetEqualAt');
    expect(result.proof.sections).toMatchObject({ humanUsers: { onlyTarget: 2 } });
  });

  it('undoes no change in the target, unless it is named', async () => {
    const { north, south, args } = await secondPass();
    const added = organisation('acme', { humanUsers: [person('new')] });
    const file = await exportFileWith(added);
    expect((await identity(['import', file, '--to', south.database])).code).toBe(0);
    const migrating = await prepareMigration(north);
    const refused = await identity(['migrate', ...args, '--yes', '--max-deleted', '9'], migrating);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('add --replace-changed acme');
    const named = [...args, '--replace-changed', 'acme', '--yes', '--max-deleted', '5'];
    expect(await migrate(named, migrating)).toMatchObject({ outcome: 'done', deleted: { humanUsers: 2 } });
  });

  it.each([
    [['--mirror', '--yes', '--max-deleted', '1'], '--mirror needs --on-conflict overwrite'],
    [['--mirror', '--on-conflict', 'overwrite', '--yes'], '--yes with --mirror needs --max-deleted'],
    [['--max-deleted', '1'], '--max-deleted has no effect without --mirror'],
    [['--replace-changed', 'acme'], '--replace-changed has no effect without --mirror'],
  ])('refuses %j', async (options, expected) => {
    const { database } = await servedPlace(sqlite);
    const args = ['migrate', '--from', await exportFileWith(organisation('acme')), '--to', database, ...options];
    const { code, stderr } = await identity(args);
    expect(code).toBe(64);
    expect(stderr).toContain(expected);
  });

  it('refuses a file as the target, and conflict handlings that the target does not have', async () => {
    const from = ['migrate', '--from', await exportFileWith(organisation('acme')), ...mirror];
    const toFile = await identity([...from, '--to', join(await testDirectory(), 'new.json')]);
    expect(toFile.stderr).toContain('--mirror has no effect here: the target is a new file');
    const { zitadel, tokenFile } = await filledZitadel([]);
    const toZitadel = await identity([...from, '--to', zitadel.url, '--to-token-file', tokenFile]);
    expect(toZitadel.stderr).toContain('--mirror into ZITADEL needs --on-conflict report or skip');
    const { database } = await servedPlace(sqlite);
    const toInstance = await identity([...from.filter((word) => word !== 'overwrite'), 'skip', '--to', database]);
    expect(toInstance.code).toBe(64);
    expect([toFile.code, toZitadel.code]).toEqual([64, 64]);
  });
});

/** A ZITADEL into which an organisation of an instance has moved, which has lost some records since. */
async function secondPassIntoZitadel(content: object = after) {
  const north = await servedPlace(sqlite);
  const { zitadel, tokenFile } = await filledZitadel([]);
  await fill(north, before, 1);
  const places = [
    '--from',
    north.database,
    '--to',
    zitadel.url,
    '--to-token-file',
    tokenFile,
    '--with',
    'passwords,otp',
  ];
  await migrate([...places, '--yes'], await prepareMigration(north));
  await fill(north, content, 2);
  return { north, zitadel, args: [...places, '--mirror'] };
}

describe('identity migrate --mirror into ZITADEL', () => {
  it('lists the deletions, deletes them with consent, and proves both directions', async () => {
    const { north, args } = await secondPassIntoZitadel();
    const migrating = await prepareMigration(north);
    const { code, stdout } = await identity(['migrate', ...args], migrating);
    expect({ code, lines: stdout.split('\n') }).toMatchObject({ code: 2, lines: expect.arrayContaining(deletions) });
    const few = await identity(['migrate', ...args, '--yes', '--max-deleted', '3'], migrating);
    expect([few.code, few.stderr]).toEqual([
      1,
      expect.stringContaining('would delete more records than permitted (4 instead of 3)'),
    ]);
    const result = await migrate([...args, '--yes', '--max-deleted', '4'], migrating);
    expect(result).toMatchObject({
      outcome: 'done',
      deleted,
      proof: { unexpected: 0, sections: { humanUsers: { differentAsExpected: 1, onlyTarget: 0 } } },
      targetEqualAt: expect.any(String),
    });
    const again = await migrate([...args, '--yes', '--max-deleted', '0'], await prepareMigration(north));
    expect(again).toMatchObject({ outcome: 'done', deleted: {} });
  });

  it('lists records with other content as differences, and deletes only if the call skips these', async () => {
    const { north, args } = await secondPassIntoZitadel({
      ...after,
      orgMembers: [{ userId: 'ada', roles: ['ORG_ADMIN_IMPERSONATOR'] }],
    });
    const reported = await migrate([...args, '--yes', '--max-deleted', '4'], await prepareMigration(north), 3);
    expect([reported.outcome, reported.deleted, reported.proof.unexpected]).toEqual(['listed', {}, 5]);
    const skipping = [...args, '--on-conflict', 'skip', '--yes', '--max-deleted', '4'];
    const skipped = await migrate(skipping, await prepareMigration(north), 3);
    expect([skipped.outcome, skipped.deleted, skipped.proof.unexpected]).toEqual(['listed', deleted, 1]);
  });
});

/** A ZITADEL whose organisation was mirrored once, and has lost a person, with all that is theirs, and a project since. */
async function secondPassFromZitadel() {
  const old = { projectId: 'old', project: { name: 'Old' } };
  const content = { ...before, labelPolicy: undefined, projects: [project, old] };
  const { zitadel, tokenFile } = await filledZitadel([organisation('acme', content)]);
  const south = await servedPlace(sqlite);
  const from = ['--from', zitadel.url, '--from-token-file', tokenFile, '--org', 'acme'];
  const args = [...from, '--to', south.database, ...mirror];
  await migrate([...args, '--yes', '--max-deleted', '0'], await prepareMigration(south));
  const { contents } = zitadel;
  for (const records of contents.organisations.get('acme')?.sections.values() ?? [])
    for (const [key, { json }] of records) if (json.userId === 'bob') records.delete(key);
  contents.remove('acme', 'humanUsers', 'bob');
  contents.remove('acme', 'projects', 'old');
  return { zitadel, tokenFile, south, args: [...args, '--yes', '--max-deleted', '9'] };
}

describe('identity migrate --mirror from ZITADEL', () => {
  it('deletes what ZITADEL has deleted, and proves both directions', async () => {
    const { south, args } = await secondPassFromZitadel();
    const result = await migrate(args, await prepareMigration(south));
    expect(result).toMatchObject({
      outcome: 'done',
      deleted: { humanUsers: 1, orgMembers: 1, userGrants: 1, projects: 1 },
      proof: { unexpected: 0, sections: { humanUsers: { equal: 1, onlyTarget: 0 } } },
      targetEqualAt: expect.any(String),
    });
  });

  it('reactivates what is active in ZITADEL again, and leaves memberships of the user of the token alone', async () => {
    const { zitadel, south, args } = await secondPassFromZitadel();
    const { contents } = zitadel;
    const stored = contents.find('acme', 'projects', 'shop');
    const migrateAs = async (state: string) => {
      contents.put('acme', 'projects', 'shop', { ...stored, state });
      return await migrate(args, await prepareMigration(south));
    };
    contents.put('acme', 'orgMembers', 'owner', { userId: 'owner', roles: ['ORG_OWNER'] });
    expect(await migrateAs('PROJECT_STATE_INACTIVE')).toMatchObject({ outcome: 'done', deleted: { orgMembers: 1 } });
    expect(await migrateAs('PROJECT_STATE_ACTIVE')).toMatchObject({
      outcome: 'done',
      moved: { imported: { overwritten: { projects: 1 } } },
    });
    const sides = ['--token-file', args[3] ?? '', '--org', 'acme'];
    expect(await identity(['compare', zitadel.url, south.database, ...sides])).toMatchObject({ code: 0 });
  });

  it('keeps memberships of users of excluded organisations, which the export leaves out', async () => {
    const old = { projectId: 'old', project: { name: 'Old' } };
    const acme = organisation('acme', { projects: [old], humanUsers: [person('ada')], orgMembers: [ownerOf('pam')] });
    const { zitadel, tokenFile } = await filledZitadel([
      acme,
      organisation('partner', { humanUsers: [person('pam')] }),
    ]);
    const south = await servedPlace(sqlite);
    const args = ['--from', zitadel.url, '--from-token-file', tokenFile, '--to', south.database, ...mirror, '--yes'];
    await migrate([...args, '--max-deleted', '0'], await prepareMigration(south));
    zitadel.contents.remove('acme', 'projects', 'old');
    const result = await migrate(
      [...args, '--exclude-org', 'partner', '--max-deleted', '9'],
      await prepareMigration(south),
      3,
    );
    expect(result).toMatchObject({ deleted: { projects: 1 }, proof: { sections: { orgMembers: { onlyTarget: 1 } } } });
    expect(result.deleted).not.toHaveProperty('orgMembers');
  });

  it('deletes nothing of a section that it cannot prove complete, and ends with 3', async () => {
    const { zitadel, south, args } = await secondPassFromZitadel();
    zitadel.behaviour.hidesUsers = true;
    const migrating = await prepareMigration(south);
    const { stdout } = await identity(['migrate', ...args.slice(0, -3), '--dry-run'], migrating);
    expect(stdout).toMatch(
      /--mirror does not delete .*people, .*user grants.*, because the source may have such records that its export lacks/,
    );
    const result = await migrate(args, migrating, 3);
    expect(result).toMatchObject({
      deleted: { projects: 1 },
      proof: { sections: { humanUsers: { onlyTarget: 1 }, orgMembers: { onlyTarget: 1 } } },
    });
  });

  it('takes a file that this command exported there, whose manifest lists what is complete', async () => {
    const { zitadel, tokenFile, south } = await secondPassFromZitadel();
    const file = join(await testDirectory(), 'zitadel.json');
    const exporting = [
      'export',
      zitadel.url,
      '--token-file',
      tokenFile,
      '--org',
      'acme',
      '--with',
      'all',
      '--to',
      file,
    ];
    expect((await identity(exporting)).code).toBe(0);
    const { manifest } = z
      .looseObject({ manifest: z.looseObject({ sections: z.array(z.string()) }) })
      .parse(JSON.parse(await readFile(file, 'utf8')));
    expect(manifest).toMatchObject({ version: 1, instance: 'ZITADEL', instanceId: expect.any(String) });
    expect(manifest).not.toHaveProperty('secrets');
    expect(manifest.sections).toEqual(expect.arrayContaining(['humanUsers', 'machineKeys', 'userGrants', 'actions']));
    for (const name of ['oidcIdps', 'jwtIdps', 'inviteUserMessages']) expect(manifest.sections).not.toContain(name);
    const mirroring = ['--on-conflict', 'overwrite', '--mirror', '--yes', '--max-deleted', '9'];
    const { code, stdout } = await identity(['import', file, '--to', south.database, ...mirroring]);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('deleted: people 1, org members 1, projects 1'),
    });
  });
});
