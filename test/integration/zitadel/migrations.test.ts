import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { identity } from '../../support/command.ts';
import { organisation, person, zitadelRequest } from '../../support/fixtures/organisations.ts';
import { exportFileWith, readResult } from '../../support/migrations/migrating.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { measured, type Release } from '../../support/zitadel/behaviour.ts';
import { organisationsWithGrantMember } from '../../support/zitadel/grantMember.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const listed = z.array(z.looseObject({ id: z.string() }));
const planEvent = z.looseObject({ event: z.literal('plan'), refused: listed, people: listed });
/** Reads the plan among the events of `--json`. */
function readPlan(stdout: string) {
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => planEvent.safeParse(JSON.parse(line)));
  const plan = events.find(({ success }) => success)?.data;
  if (plan === undefined) throw new Error('there is no plan');
  return plan;
}

const SALT_AND_HASH = '0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';

/** A person with a verified address and a bcrypt hash. */
function hashed(userId: string, hash = `$2b$10$${SALT_AND_HASH}`) {
  const email = { email: `${userId}@customer.example`, isEmailVerified: true };
  return person(userId, { userName: userId, email, hashedPassword: { value: hash } });
}

/** Returns a function that migrates a file to a ZITADEL. */
async function migrating(file: string, given: Parameters<typeof filledZitadel>[1] = {}) {
  const { zitadel, tokenFile } = await filledZitadel([], given);
  const places = ['--from', file, '--to', zitadel.url, '--to-token-file', tokenFile, '--with', 'all'];
  const migrate = async (...more: string[]) => identity(['migrate', ...places, '--yes', ...more]);
  return { zitadel, migrate };
}

describe('a migration that is repeated after logins at the ZITADEL', () => {
  it('names a hash that differs as perhaps of the same password, and ends with 0', async () => {
    const file = await exportFileWith(organisation('acme', { humanUsers: [hashed('ada'), hashed('bob')] }));
    const { zitadel, migrate } = await migrating(file);
    expect((await migrate()).code).toBe(0);
    // A ZITADEL hashes the password anew at a login.
    const stored = zitadel.contents.find('acme', 'humanUsers', 'ada');
    const rehashed = { hashedPassword: { value: `$2a$14$${SALT_AND_HASH}` } };
    zitadel.contents.put('acme', 'humanUsers', 'ada', { ...stored, user: { ...Object(stored?.user), ...rehashed } });
    const { code, stdout, stderr } = await migrate('--json');
    expect(code, stderr).toBe(0);
    const result = readResult(stdout);
    expect(result.proof.differences).toContainEqual(
      expect.objectContaining({ id: 'ada', reason: expect.stringContaining('hashes a password anew') }),
    );
    expect(result).toMatchObject({
      outcome: 'done',
      proof: { unexpected: 0 },
      credentials: { kept: 1, others: [{ reason: expect.stringContaining('with another hash in the target') }] },
    });
  });
});

describe('a migration of every kind of record', () => {
  it('ends with 0, and so does a second one', async () => {
    const { migrate } = await migrating(await exportFileWith(...zitadelRequest('import-request')));
    for (const attempt of ['first', 'second']) {
      const { code, stdout, stderr } = await migrate('--json');
      const { errors, proof } = readResult(stdout);
      const unexplained = proof.differences.filter(({ reason }) => reason === undefined);
      expect([attempt, errors, unexplained], stderr).toEqual([attempt, [], []]);
      expect(code, stderr).toBe(0);
    }
  });
});

describe('a migration of a member of a project grant that ZITADEL keeps in the organisation of the project', () => {
  it('finds it there, with the reason, and ends with 0', async () => {
    const { migrate } = await migrating(await exportFileWith(...organisationsWithGrantMember));
    const { code, stdout, stderr } = await migrate('--json');
    const { differences, unexpected } = readResult(stdout).proof;
    expect([code, unexpected], stderr).toEqual([0, 0]);
    expect(differences).toContainEqual(
      expect.objectContaining({
        section: 'projectGrantMembers',
        outcome: 'different',
        fields: [expect.objectContaining({ path: 'orgId' })],
        reason: "ZITADEL keeps the members of a project grant in the project's organisation",
      }),
    );
  });
});

describe('a migration of an organisation whose name another one has', () => {
  it('lists it in its plan, in which all of its records fail, as in the result', async () => {
    const file = await exportFileWith(
      organisation('one', { org: { name: 'Acme' } }),
      organisation('two', { org: { name: 'ACME ' }, humanUsers: [hashed('ada')] }),
      organisation('three', { org: { name: 'zitadel' }, humanUsers: [hashed('bob')] }),
    );
    const { migrate } = await migrating(file);
    const { code, stdout, stderr } = await migrate('--json');
    const { errors, moved } = readResult(stdout);
    expect(readPlan(stdout).refused.map(({ id }) => id)).toEqual(['two', 'three']);
    expect(errors.map(({ id }) => id)).toEqual(['two', 'three']);
    expect(moved).toMatchObject({ imported: { created: { org: 1 }, failed: { org: 2, humanUsers: 2 } } });
    expect(code, stderr).toBe(3);
  });
});

describe('a migration of an application with a back-channel logout URI', () => {
  const app = { projectId: '5', name: 'Portal', backChannelLogoutUri: 'https://portal.internal.example/logout' };
  const shop = { projects: [{ projectId: '5', project: { name: 'Shop' } }], oidcApps: [{ appId: '6', app }] };

  it('warns in its plan that a ZITADEL of July 2026 may refuse the application, and explains the error', async () => {
    const { migrate } = await migrating(await exportFileWith(organisation('acme', shop)), { release: '2026-07' });
    const { code, stdout, stderr } = await migrate();
    expect(stderr).toContain(
      'oidc app 6: from July 2026 on, ZITADEL refuses an application whose `backChannelLogoutUri`',
    );
    expect(stdout).toContain('oidc app 6: ZITADEL refuses the host in `backChannelLogoutUri`');
    expect(code, stderr).toBe(3);
  });
});

describe('a migration of users with one login name in several organisations', () => {
  const robot = { userId: 'robot', user: { userId: 'robot', userName: 'Admin', name: 'Robot' } };
  const users = (orgId: string) => ['alice', 'admin'].map((userName) => person(`${orgId}-${userName}`, { userName }));
  const file = () =>
    exportFileWith(
      organisation('one', { humanUsers: users('one') }),
      organisation('two', { humanUsers: users('two') }),
      organisation('three', { humanUsers: [person('three-alice', { userName: 'ALICE' })], machineUsers: [robot] }),
    );

  it('lists in its plan the users whom the ZITADEL then refuses', async () => {
    const { migrate } = await migrating(await file());
    const { code, stdout, stderr } = await migrate('--json');
    const planned = readPlan(stdout);
    const { errors } = readResult(stdout);
    expect(planned.refused.map(({ id }) => id)).toEqual(['two-alice', 'two-admin', 'three-alice', 'robot']);
    expect(errors.map(({ id }) => id)).toEqual(planned.refused.map(({ id }) => id));
    expect(code, stderr).toBe(3);
  });

  it('moves all of them to a ZITADEL whose login names carry the domain', async () => {
    const { migrate } = await migrating(await file(), { loginNamesByDomain: true });
    const { code, stdout, stderr } = await migrate('--json');
    expect(readPlan(stdout).refused).toEqual([]);
    expect(code, stderr).toBe(0);
  });
});

const ARGON2 = '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$c29tZWhhc2hzb21laGFzaHNvbWVoYXNoc29tZWhhc2g';
const REFUSED = 'with a password hash for which ZITADEL refuses the person since June 2026: bob, eve';

describe('a migration of people whose password hashes a ZITADEL refuses', () => {
  const humanUsers = [hashed('ada'), hashed('bob', `$2b$05$${SALT_AND_HASH}`), hashed('eve', ARGON2)];
  const userMetadata = [{ id: 'bob', key: 'shoe size', value: 'NDI=' }];
  const toZitadel = async (release: Release, version = measured.version) =>
    migrating(await exportFileWith(organisation('acme', { humanUsers, userMetadata })), { release, version });

  it('announces in its plan what happens, and names the people in its result', async () => {
    const { zitadel, migrate } = await toZitadel('2026-07');
    const { code, stdout, stderr } = await migrate();
    expect(code, stderr).toBe(3);
    expect(stderr).toContain(
      '1 of 3 people with a password is active in ZITADEL, with a password hash that it verifies by default',
    );
    expect(stderr).toContain(`2 ${REFUSED}`);
    expect(stderr).toContain(`${zitadel.url} refuses 2 people, with all their records, if it is of June 2026 or later`);
    expect(stdout).toContain('person bob: ZITADEL refuses the password hash for its cost');
    expect(stdout).toContain('person eve: ZITADEL has no verifier for the password hash');
    expect([...(zitadel.contents.organisations.get('acme')?.sections.get('humanUsers')?.keys() ?? [])]).toEqual([
      'ada',
    ]);
  });

  it.each([measured.version, 'v4.0.4'])('counts them in the plan for a ZITADEL of version %s', async (version) => {
    const { migrate } = await toZitadel('4.0', version);
    const { stderr } = await migrate();
    expect(stderr).toContain(`2 ${REFUSED}`);
  });

  it('moves them without their hashes by --accept refused-hashes, and names them', async () => {
    const { zitadel, migrate } = await toZitadel('2026-07');
    const { code, stdout, stderr } = await migrate('--accept', 'refused-hashes', '--json');
    expect(code, stderr).toBe(0);
    const result = readResult(stdout);
    expect(result).toMatchObject({
      outcome: 'done',
      options: { accepted: ['refused-hashes'] },
      errors: [],
      moved: { imported: { created: { humanUsers: 3, userMetadata: 1 } } },
      proof: { unexpected: 0 },
      credentials: { kept: 1 },
    });
    for (const id of ['bob', 'eve']) {
      const reason = expect.stringContaining('imported without the password hash');
      expect(result.proof.differences).toContainEqual(expect.objectContaining({ id, reason }));
      const message = expect.stringContaining('the person must activate the user');
      expect(result.leftToDo).toContainEqual(expect.objectContaining({ id, message }));
    }
    expect(zitadel.contents.find('acme', 'humanUsers', 'ada')).toMatchObject({ state: 'USER_STATE_ACTIVE' });
    const again = await migrate('--accept', 'refused-hashes', '--json');
    expect(again.code, again.stderr).toBe(0);
  });

  it('lists all of them with their addresses in plan, result and report', async () => {
    const people = Array.from({ length: 120 }, (_, index) => hashed(`person-${index}`, ARGON2));
    const file = await exportFileWith(organisation('acme', { humanUsers: people }));
    const { migrate } = await migrating(file, { release: '2026-07' });
    const report = join(await testDirectory(), 'report.html');
    const { code, stdout, stderr } = await migrate('--accept', 'refused-hashes', '--report', report, '--json');
    expect(code, stderr).toBe(0);
    const reasons = [expect.stringContaining('the person must activate the user')];
    const ids = people.map(({ userId }) => userId);
    for (const listed of [readPlan(stdout).people, readResult(stdout).people]) {
      expect(listed.map(({ id }) => id)).toEqual(ids);
      expect(listed[7]).toEqual({
        id: 'person-7',
        orgId: 'acme',
        userName: 'person-7',
        name: 'First Last',
        address: 'person-7@customer.example',
        reasons,
      });
    }
    const page = await readFile(report, 'utf8');
    for (const id of ids) expect(page).toContain(`<li>${id} (First Last), ${id}@customer.example`);
  });

  it('is the only target that takes --accept refused-hashes', async () => {
    const to = join(await testDirectory(), 'copy.json');
    const from = await exportFileWith(organisation('acme', { humanUsers }));
    const call = ['migrate', '--dry-run', '--from', from, '--to', to, '--with', 'all', '--accept', 'refused-hashes'];
    const problem = 'identity: --accept refused-hashes has no effect here: it is for imports into ZITADEL\n';
    expect(await identity(call)).toMatchObject({ code: 64, stderr: problem });
    const { database } = await servedPlace(sqlite);
    const imported = await identity(['import', from, '--to', database, '--accept', 'refused-hashes']);
    expect(imported).toMatchObject({ code: 64, stderr: expect.stringContaining(problem) });
  });

  it('announces nothing for a release that takes every hash', async () => {
    const { migrate } = await toZitadel('2.71');
    const { code, stderr } = await migrate();
    expect(stderr).not.toContain('2026');
    expect(stderr).toContain('person eve: ZITADEL verifies this password hash only if its');
    // Nobody has a seed, although all secrets were asked for.
    expect(stderr).toContain('the export has no TOTP seeds: people who lack them');
    expect(code, stderr).toBe(0);
  });
});
