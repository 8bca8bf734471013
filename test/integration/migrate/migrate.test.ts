import { writeFileSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { total } from '../../../shared/collections/counts.ts';
import { calling, identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import {
  betweenServers,
  exportFileWith,
  migrate,
  planOf,
  prepareMigration,
  readResult,
} from '../../support/migrations/migrating.ts';
import { servedPlace } from '../../support/places/servedPlace.ts';
import { keyEnvironment, sqlite } from '../../support/stores/stores.ts';
import { DEFAULT_ORGANISATION } from '../../support/zitadel/behaviour.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
const all = ['--with', 'passwords,otp,keys'];

describe('identity migrate', () => {
  it('moves organisations between two instances, and proves it', async () => {
    const north = await servedPlace(sqlite);
    const south = await servedPlace(sqlite);
    const ada = person('ada', { hashedPassword: { value: HASH } });
    const file = await exportFileWith(
      organisation('acme', { humanUsers: [ada, person('bob')] }),
      organisation('emca', { humanUsers: [person('eve')] }),
    );
    const env = keyEnvironment(north.location);
    await calling({ env })(`import ${file} --to ${north.database}`, 0);
    const migrating = await prepareMigration(north);
    const result = await migrate([...betweenServers(north, south), ...all, '--yes'], migrating);
    expect(result).toMatchObject({
      outcome: 'done',
      source: { place: north.url, kind: 'instance', version: expect.any(String) },
      target: { place: south.url },
      leftOut: [{ orgId: north.orgId, reason: expect.stringContaining('default organisation') }],
      organisations: [
        { orgId: 'acme', people: 2, records: 3, before: { absent: 3 }, after: { equal: 3, absent: 0 } },
        { orgId: 'emca', people: 1, records: 2 },
      ],
      moved: { organisations: 2, records: 5, imported: { created: { org: 2, humanUsers: 3 }, failed: {} } },
      proof: {
        method: 'fields',
        unexpected: 0,
        expected: 0,
        sections: { humanUsers: { equal: 3 } },
        sourceUnchanged: true,
      },
      credentials: { people: 3, withPassword: 1, kept: 1, secondFactors: 'all', others: [] },
    });
    // No person has a factor, so an export with factors would not help.
    expect(JSON.stringify(result.leftToDo)).not.toContain('include these secrets');
    expect(result.phases.map(({ phase, succeeded }) => `${phase} ${succeeded}`)).toEqual(
      expect.arrayContaining(['exporting true', 'importing true']),
    );
    // The export is validated while it is transferred.
    expect(result.phases.map(({ phase }) => phase)).not.toContain('checking the export');
    expect(await readdir(migrating.cwd)).toEqual([]);
    for (const secret of [HASH, north.token, south.token]) expect(JSON.stringify(result)).not.toContain(secret);
    const [deletion] = result.takeBack;
    expect(deletion).toMatchObject({ command: 'identity org delete acme emca --data DIR' });
    const again = await migrate([...betweenServers(north, south), ...all, '--yes'], await prepareMigration(north));
    expect(again.moved.imported).toMatchObject({ created: {}, unchanged: { org: 2, humanUsers: 3 } });
    expect(again.organisations).toMatchObject([{ before: { equal: 3, absent: 0 } }, { before: { equal: 2 } }]);
    const importing = again.phases.find(({ phase }) => phase === 'importing');
    expect(importing).toMatchObject({ records: 5, unchanged: 5, perSecond: 0 });
    expect(again.takeBack.map(({ what }) => what)).toEqual([
      'acme (Organisation acme) existed when this run began: delete it only if an earlier, interrupted run created it',
      'emca (Organisation emca) existed when this run began: delete it only if an earlier, interrupted run created it',
    ]);
    expect(JSON.stringify(again.takeBack)).not.toContain('command');
  });
});

describe('the report of identity migrate', () => {
  it('is written with the result, as a page or as JSON', async () => {
    const { database, location } = await servedPlace(sqlite);
    const hostile = organisation('acme', { org: { name: '<script>alert(1)</script>' }, humanUsers: [person('ada')] });
    const migrating = await prepareMigration({ location });
    const from = ['--from', await exportFileWith(hostile), '--to', database, '--with', 'none', '--yes'];
    const result = await migrate([...from, '--report', 'report.html'], migrating);
    const path = join(migrating.cwd, 'report.html');
    const page = await readFile(path, 'utf8');
    expect(page).toContain('Done: 2 records of 1 organisation: 2 created');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).not.toContain('<script>');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(result).toMatchObject({ moved: { imported: { created: { humanUsers: 1 } } } });
    const again = await migrate([...from, '--report', 'report.JSON'], migrating);
    expect(JSON.parse(await readFile(join(migrating.cwd, 'report.JSON'), 'utf8'))).toEqual(again);
  });

  it('lists every differing record', async () => {
    const { database, location } = await servedPlace(sqlite);
    const crowd = (nick: string) =>
      Array.from({ length: 150 }, (_, index) => person(`person-${index}`, { userName: `${nick}-${index}` }));
    const migrating = await prepareMigration({ location });
    const migrateCrowd = async (nick: string, report: string) => {
      const from = ['--from', await exportFileWith(organisation('acme', { humanUsers: crowd(nick) }))];
      const options = ['--with', 'none', '--on-conflict', 'skip', '--yes', '--report', report];
      return identity(['migrate', ...from, '--to', database, ...options], migrating);
    };
    expect((await migrateCrowd('first', 'first.html')).code).toBe(0);
    expect((await migrateCrowd('second', 'second.html')).code).toBe(0);
    const page = await readFile(join(migrating.cwd, 'second.html'), 'utf8');
    expect(page.match(/<li>person person-\d+ .*user\.userName: /g)).toHaveLength(150);
    expect((await migrateCrowd('second', 'second.json')).code).toBe(0);
    const result = JSON.parse(await readFile(join(migrating.cwd, 'second.json'), 'utf8'));
    expect(result.proof.differences).toHaveLength(150);
    expect(result.proof.differencesOmitted).toBe(0);
  });

  it('is found out to be impossible before anything is done', async () => {
    const { database, location } = await servedPlace(sqlite);
    const migrating = await prepareMigration({ location });
    const places = ['--from', await exportFileWith(organisation('acme')), '--to', database];
    const from = ['migrate', ...places, '--with', 'none', '--yes'];
    const path = join(migrating.cwd, 'report.html');
    await writeFile(path, 'of somebody else');
    const taken = await identity([...from, '--report', path], migrating);
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringMatching(/^identity: .*report\.html exists/) });
    expect(await readFile(path, 'utf8')).toBe('of somebody else');
    const nowhere = await identity([...from, '--report', join(migrating.cwd, 'none', 'report.html')], migrating);
    expect(nowhere).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/none does not exist: correct the problem, or choose another directory for '),
    });
    const directory = await identity([...from, '--report', join(migrating.cwd, 'fresh.html/')], migrating);
    expect(directory).toMatchObject({ code: 64, stderr: expect.stringContaining('specify FILE.html or FILE.json') });
    const after = await identity(['export', database, '--to', '-', '--org', 'acme'], migrating);
    expect(after).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('does not have organisation acme: correct --org'),
    });
    expect(await readdir(migrating.cwd)).toEqual(['report.html']);
  });

  it('does not cost the result if a file of its name appears during the run', async () => {
    const { database, location } = await servedPlace(sqlite);
    const { env, cwd } = await prepareMigration({ location });
    const report = join(cwd, 'report.html');
    const from = ['migrate', '--from', await exportFileWith(organisation('acme')), '--to', database];
    const call = [...from, '--with', 'none', '--yes', '--json', '--report', report];
    // The command prints its plan before the import.
    const { code, stdout, stderr } = await identity(call, { env, onStdout: () => writeFileSync(report, 'other') });
    expect(code).toBe(1);
    expect(readResult(stdout).takeBack).toMatchObject([
      { command: expect.stringMatching(/^identity org delete acme /) },
    ]);
    expect(stderr).toBe(
      `identity: the report ${report} could not be written (another process has created a file with this name): the migration and its proof are complete; keep the printed result, because a second run prints a different result\n`,
    );
    expect(await readdir(cwd)).toEqual(['report.html']);
  });
});

const withPeople = organisation('acme', { humanUsers: people(3) });

describe('a migration', () => {
  it('to a database has a plan without a check of a token', async () => {
    const { database, location } = await servedPlace(sqlite);
    const places = ['--from', await exportFileWith(organisation('acme')), '--to', database];
    const args = ['migrate', '--dry-run', ...places, '--with', 'none'];
    const { code, stdout, stderr } = await identity(args, await prepareMigration({ location }));
    expect(code).toBe(0);
    expect(stderr).toMatch(/^comparing both places: 1 record, done in .*\ncomparing credentials: 1 record, done in/m);
    expect(stdout).toMatch(/is an instance of this service, version \S+\n/);
    expect(stdout).not.toContain('token permits');
  });

  it('names the people whose state differs, in plan, result and report alike', async () => {
    const people = (stateOfAda: string) => [
      { ...person('ada', { hashedPassword: { value: HASH } }), state: stateOfAda },
      { ...person('bob', { hashedPassword: { value: HASH } }), state: 'USER_STATE_INACTIVE' },
      person('eve'),
    ];
    const active = await exportFileWith(organisation('acme', { humanUsers: people('USER_STATE_ACTIVE') }));
    const locked = await exportFileWith(organisation('acme', { humanUsers: people('USER_STATE_LOCKED') }));
    const { database, location } = await servedPlace(sqlite);
    const to = ['--to', database, ...all, '--yes'];
    const first = await migrate(['--from', active, ...to], await prepareMigration({ location }));
    const counts = { people: 3, withPassword: 2, kept: 2, secondFactors: 'totp' };
    expect(first.credentials).toEqual({ ...counts, others: [] });
    const lock = ['--from', locked, ...to, '--on-conflict', 'overwrite'];
    await migrate(lock, await prepareMigration({ location }));
    const migrating = await prepareMigration({ location });
    const again = ['migrate', '--from', active, ...to, '--on-conflict', 'skip', '--report', 'report.html'];
    const { code, stdout, stderr } = await identity(again, migrating);
    expect(code).toBe(0);
    const lines = [
      '1 of 2 people with a password has the same password hash, TOTP seed and state on both sides; other second factors do not move, and are not compared; 1 of 3 people has no password in the export',
      '1 locked in the target, active in the source: name of ada',
      'the export has no TOTP seeds and OTP e-mail factors: people who used these factors must add them again',
    ];
    const page = await readFile(join(migrating.cwd, 'report.html'), 'utf8');
    for (const text of [stderr, stdout, page]) for (const line of lines) expect(text).toContain(line);
  });

  it('lists in plan, result and report that second factors do not move, and were not compared', async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    const ada = person('ada', { hashedPassword: { value: HASH }, otpCode: 'JBSWY3DPEHPK3PXP' });
    const acme = organisation('acme', { humanUsers: [{ ...ada, otpEmail: true }] });
    const env = { ...keyEnvironment(north.location), ...keyEnvironment(south.location) };
    const imported = await identity(['import', await exportFileWith(acme), '--to', north.database], { env });
    expect(imported, imported.stderr).toMatchObject({ code: 0 });
    const migrating = await prepareMigration(south);
    const to = ['--to', south.database, '--with', 'passwords', '--yes', '--report', 'report.html'];
    const moved = await calling({ ...migrating, env })(`migrate --from ${north.database} ${to.join(' ')}`, 0);
    const page = await readFile(join(migrating.cwd, 'report.html'), 'utf8');
    const same =
      '1 of 1 person with a password has the same password hash and state on both sides; second factors do not move, and are not compared';
    for (const text of [moved.stderr, moved.stdout, page]) expect(text).toContain(same);
    for (const text of [moved.stderr, moved.stdout, page]) expect(text).not.toMatch(/\blogs? in\b|\blogins\b/i);
    expect(moved.stdout).toContain('\n  not compared: otp, keys (--with selects them)\n');
    expect(page).toContain('not compared: otp, keys (--with selects them)');
    const remedy =
      /include these secrets \(--with otp\) and overwrite existing people \(--on-conflict overwrite\), or people who used these factors must/;
    for (const text of [moved.stdout, page]) expect(text).toMatch(remedy);
    const again = ['--from', north.database, '--to', south.database, '--with', 'passwords,otp', '--yes'];
    const without = await identity(['migrate', ...again], { ...(await prepareMigration(south)), env });
    expect(without).toMatchObject({ code: 3, stdout: expect.stringContaining(': a secret, only in the source\n') });
    const overwriting = [...again, '--on-conflict', 'overwrite'];
    const result = await migrate(overwriting, { ...(await prepareMigration(south)), env });
    expect(result).toMatchObject({ outcome: 'done', moved: { imported: { overwritten: { humanUsers: 1 } } } });
  });

  it('from ZITADEL leaves its default organisation behind, and the memberships of the user of its token', async () => {
    const { zitadel, tokenFile } = await filledZitadel([withPeople, organisation('emca')]);
    zitadel.contents.put('acme', 'orgMembers', 'owner', { userId: 'owner', roles: ['ORG_OWNER'] });
    const north = await servedPlace(sqlite);
    const from = ['--from', zitadel.url, '--from-token-file', tokenFile];
    const result = await migrate([...from, '--to', north.database, ...all, '--yes'], await prepareMigration(north));
    expect(result).toMatchObject({
      outcome: 'done',
      warnings: [],
      source: { kind: 'zitadel' },
      leftOut: [{ orgId: DEFAULT_ORGANISATION, reason: expect.stringMatching(/^ZITADEL, the default organisation/) }],
      organisations: [{ orgId: 'acme', people: 3 }, { orgId: 'emca' }],
      moved: { imported: { failed: {} } },
      proof: { unexpected: 0, sections: { humanUsers: { equal: 3 } }, sourceUnchanged: true },
      credentials: { withPassword: 3, kept: 3, secondFactors: 'totp' },
    });
    expect(zitadel.deaths()).toBe(0);
  });

  it('from ZITADEL moves its default organisation if --org names it, and its plan lists the user of its token in there', async () => {
    const { zitadel, tokenFile } = await filledZitadel([withPeople]);
    const [ada] = people(1, 50);
    zitadel.contents.put(DEFAULT_ORGANISATION, 'humanUsers', ada?.userId ?? '', { ...ada });
    zitadel.contents.put(DEFAULT_ORGANISATION, 'machineUsers', 'owner', {
      userId: 'owner',
      user: { userName: 'owner', name: 'owner' },
    });
    for (const orgId of [DEFAULT_ORGANISATION, 'acme'])
      zitadel.contents.put(orgId, 'orgMembers', 'owner', { userId: 'owner', roles: ['ORG_OWNER'] });
    const north = await servedPlace(sqlite);
    const from = [
      '--from',
      zitadel.url,
      '--from-token-file',
      tokenFile,
      '--org',
      'acme',
      '--org',
      DEFAULT_ORGANISATION,
    ];
    const migrating = await prepareMigration(north);
    const plan = await planOf([...from, '--to', north.database, ...all], migrating);
    const result = await migrate([...from, '--to', north.database, ...all, '--yes'], migrating);
    expect(JSON.stringify(plan)).toContain('the export contains the user owner, who exported the source');
    expect(result).toMatchObject({
      outcome: 'done',
      leftOut: [],
      moved: { imported: { created: { org: 2, humanUsers: 4, machineUsers: 1, orgMembers: 1 }, failed: {} } },
      proof: { unexpected: 0, sections: { humanUsers: { equal: 4 } } },
    });
    expect(result.organisations).toContainEqual(
      expect.objectContaining({ orgId: DEFAULT_ORGANISATION, name: 'ZITADEL', people: 1 }),
    );
  });

  it('between two instances lists a person who arrives unchanged, but whose link is an error', async () => {
    const linked = (orgId: string, userId: string) => ({
      ...organisation(orgId, { humanUsers: [person(userId)] }),
      userLinks: [{ userId, idpId: 'google', providedUserId: 'at google', providedUserName: userId }],
    });
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    await calling()(`import ${await exportFileWith(linked('acme', 'ada'))} --to ${north.database}`, 0);
    await calling()(`import ${await exportFileWith(linked('emca', 'eve'))} --to ${south.database}`, 0);
    const migrating = await prepareMigration(north);
    const result = await migrate([...betweenServers(north, south), ...all, '--yes'], migrating, 3);
    expect(result).toMatchObject({
      errors: [{ type: 'user_link' }],
      people: [{ id: 'ada', orgId: 'acme', reasons: [expect.any(String)] }],
      proof: { sections: { humanUsers: { equal: 1 } } },
    });
  });

  it('takes people as equal whose display name and language ZITADEL has filled in, both ways and again', async () => {
    const sparse = people(4).map(({ user, ...rest }) => ({
      ...rest,
      user: { ...user, profile: { firstName: 'Zoë', lastName: rest.userId } },
    }));
    const { zitadel, tokenFile } = await filledZitadel([]);
    const north = await servedPlace(sqlite);
    const from = ['--from', await exportFileWith(organisation('acme', { humanUsers: sparse }))];
    const there = ['--to', zitadel.url, '--to-token-file', tokenFile];
    const first = await migrate([...from, ...there, ...all, '--yes'], await prepareMigration(north));
    expect(first).toMatchObject({ outcome: 'done', proof: { unexpected: 0, sections: { humanUsers: { equal: 4 } } } });
    const again = await migrate([...from, ...there, ...all, '--yes'], await prepareMigration(north));
    expect(again.moved.imported).toMatchObject({ created: {}, unchanged: { humanUsers: 4 }, failed: {} });
    expect(again).toMatchObject({ outcome: 'done', proof: { unexpected: 0 } });
    await migrate([...from, '--to', north.database, ...all, '--yes'], await prepareMigration(north));
    const back = ['--from', zitadel.url, '--from-token-file', tokenFile, '--org', 'acme', '--to', north.database];
    const returned = await migrate([...back, ...all, '--yes'], await prepareMigration(north));
    expect(returned.moved.imported).toMatchObject({ unchanged: { humanUsers: 4 } });
    expect(returned.proof).toMatchObject({ sections: { humanUsers: { equal: 4 } } });
  });

  it('to ZITADEL exits with 0 if only announced losses occur, also when it is repeated, and with 3 for another loss', async () => {
    const [{ userId = '' } = {}] = people(1);
    const idp = { clientId: 'c', issuer: 'https://idp.example', displayNameMapping: 'OIDC_MAPPING_FIELD_EMAIL' };
    const provider = (idpId: string, secret: object) => ({ idpId, idp: { name: idpId, ...idp, ...secret } });
    const link = (idpId: string) => ({ userId, idpId, providedUserId: `at ${idpId}`, providedUserName: 'ada' });
    const inPolicy = (idpId: string) => ({ idpId, ownerType: 'IDP_OWNER_TYPE_ORG' });
    const [held = person(''), ...others] = people(3);
    const heldLink = { configId: '51', externalUserId: 'held', displayName: 'ada' };
    const file = await exportFileWith({
      ...organisation('acme', { humanUsers: [{ ...held, user: { ...held.user, idps: [heldLink] } }, ...others] }),
      oidcIdps: [provider('51', { clientSecret: 'secret' }), provider('52', {})],
      loginPolicy: { allowUsernamePassword: true, idps: [inPolicy('51'), inPolicy('52'), inPolicy('google')] },
      userLinks: [link('google')],
      projects: [{ projectId: 'p', project: { name: 'P' } }],
      projectRoles: ['admin', 'ADMIN'].map((roleKey) => ({ projectId: 'p', roleKey, displayName: roleKey })),
      loginTexts: [{ language: 'en', loginText: { title: 'Hi' }, linkingUserPromptText: { title: 'Link' } }],
    });
    const { zitadel, tokenFile } = await filledZitadel([]);
    const north = await servedPlace(sqlite);
    const args = ['--from', file, '--to', zitadel.url, '--to-token-file', tokenFile, ...all, '--yes'];
    const first = await migrate(args, await prepareMigration(north));
    expect(first).toMatchObject({ outcome: 'done', errors: [], proof: { unexpected: 0, expected: 6 } });
    expect(first.moved.imported).toMatchObject({ notCarried: { userLinks: 1, oidcIdps: 1, projectRoles: 1 } });
    // One number: the records of the file, with the link that a person holds. Those that are not carried are not
    // written.
    const { records, exported, imported = { notCarried: {} } } = first.moved;
    expect(total(exported)).toBe(records);
    const written = records - total(imported.notCarried);
    expect(first.phases).toContainEqual(expect.objectContaining({ phase: 'importing', records: written }));
    const migrating = await prepareMigration(north);
    const again = await migrate(args, migrating);
    expect(again).toMatchObject({ outcome: 'done', errors: [], proof: { unexpected: 0, expected: 6 } });
    expect(again.moved.imported).toMatchObject({ created: {}, failed: {} });
    const plan = await planOf(args, migrating);
    expect(plan).toMatchObject({ before: { different: 0 }, refused: [] });
    zitadel.contents.put('acme', 'loginPolicy', 'acme', { allowUsernamePassword: true });
    const lost = await migrate(args, await prepareMigration(north), 3);
    expect(lost).toMatchObject({ outcome: 'listed', errors: [{ type: 'login_policy' }], proof: { unexpected: 1 } });
  });

  it('to ZITADEL lists people whose ids another organisation has as errors, and not as manual steps', async () => {
    const some = people(12);
    const { zitadel, tokenFile } = await filledZitadel([organisation('acme', { humanUsers: some })]);
    const north = await servedPlace(sqlite);
    const factors = some.map((one) => ({ ...one, otpEmail: true }));
    const file = await exportFileWith(organisation('emca', { humanUsers: [...factors, ...people(2, 50)] }));
    const to = ['--to', zitadel.url, '--to-token-file', tokenFile];
    const { cwd, env } = await prepareMigration(north);
    const { stdout, stderr, code } = await identity(['migrate', '--from', file, ...to, ...all, '--yes'], { cwd, env });
    expect(code).toBe(3);
    expect(stderr).toContain('emca (Organisation emca): 15 records, 14 people: 15 missing in the target\n');
    expect(stderr).toContain(
      'ZITADEL does not import some records, which the result lists as errors: records with an id that another organisation uses; all records of a deleted organisation; records with the id of a user, project or action that was deleted with its organisation; and records with the id of a deleted action or application',
    );
    expect(stderr).toContain('organisation acme (Organisation acme) has a person with this id');
    expect(stdout).toContain('and 12 errors: 15 records of 1 organisation: 3 created, 12 failed\n');
    expect(stdout).toContain(
      '2 of 14 people with a password are active in ZITADEL, with a password hash that ZITADEL verifies by default and the same second factors\n',
    );
    expect(stdout).toContain('12 missing from their organisation in the target: ');
    for (const said of ['skipped', 'TOTP seed', 'OTP e-mail']) expect(stdout).not.toContain(said);
  });

  it('to ZITADEL lists initial people as activated and nothing else, and compares all secrets, also when it is repeated', async () => {
    const { zitadel, tokenFile } = await filledZitadel([]);
    const north = await servedPlace(sqlite);
    const initial = people(2).map((one) => ({ ...one, state: 'USER_STATE_INITIAL' }));
    const file = await exportFileWith(organisation('acme', { humanUsers: [...initial, ...people(1, 2)] }));
    const args = ['--from', file, '--to', zitadel.url, '--to-token-file', tokenFile, ...all, '--yes'];
    for (const _ of ['first', 'again']) {
      const migrating = await prepareMigration(north);
      const plan = await planOf(args, migrating);
      const { credentials, leftToDo, warnings } = await migrate(args, migrating);
      expect(credentials).toMatchObject({ withPassword: 3, kept: 3, others: [] });
      expect(leftToDo.filter(({ message }) => message.includes('activates a person'))).toHaveLength(2);
      expect(warnings.filter(({ type }) => type !== 'manifest')).toEqual([]);
      expect(plan).toMatchObject({ credentials });
    }
  });

  it('to ZITADEL waits for its projections, and lists what remains to be done', async () => {
    const { zitadel, tokenFile } = await filledZitadel([], { lagMs: 1_500 });
    const north = await servedPlace(sqlite);
    const to = ['--to', zitadel.url, '--to-token-file', tokenFile];
    const migrating = await prepareMigration(north);
    const domain = { orgId: 'acme', isVerified: true, validationType: 'DOMAIN_VALIDATION_TYPE_DNS' };
    const domains = Array.from({ length: 120 }, (_, number) => ({ ...domain, domainName: `a${number}.example` }));
    const [first, ...others] = people(3);
    const withFactor = organisation('acme', { humanUsers: [{ ...first, otpEmail: true }, ...others] });
    const file = await exportFileWith({ ...withFactor, domains });
    const plan = await planOf(['--from', file, ...to, ...all], migrating);
    const result = await migrate(['--from', file, ...to, ...all, '--yes'], migrating);
    const again = await migrate(['--from', file, ...to, ...all, '--yes'], await prepareMigration(north));
    expect(again).toMatchObject({ outcome: 'done', errors: [], proof: { unexpected: 0 } });
    expect(result, JSON.stringify(result.proof)).toMatchObject({
      outcome: 'done',
      target: { kind: 'zitadel' },
      moved: { imported: { created: { humanUsers: 3 } } },
      proof: { unexpected: 0 },
      leftToDo: expect.arrayContaining([
        expect.objectContaining({ message: expect.stringContaining('ORG_OWNER') }),
        expect.objectContaining({ id: 'acme_a119.example', message: expect.stringContaining('`validationType`') }),
      ]),
      leftToDoOmitted: 0,
      credentials: {
        ...{ withPassword: 3, kept: 2, secondFactors: 'all' },
        others: [{ reason: 'with an OTP e-mail factor: ZITADEL does not import OTP e-mail factors', count: 1 }],
      },
    });
    expect(plan).toMatchObject({ credentials: result.credentials });
    for (const said of ['ORG_OWNER', 'new client ids'])
      expect(JSON.stringify(plan).split(said).length).toBeLessThanOrEqual(2);
  });
});
