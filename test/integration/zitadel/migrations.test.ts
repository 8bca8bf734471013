import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call } from '../../support/command.ts';
import { organisation, person, zitadelRequest } from '../../support/fixtures/organisations.ts';
import { exportFileWith, readResult } from '../../support/migrations/migrating.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { measured, type Release } from '../../support/zitadel/behaviour.ts';
import { organisationsWithGrantMember } from '../../support/zitadel/grantMember.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const listed = z.array(z.looseObject({ id: z.string() }));
const planEvent = z.looseObject({ event: z.literal('plan'), refused: listed, people: listed });
const idsOf = (list: readonly { readonly id?: string | undefined }[]) => list.map(({ id }) => id);

const SALT_AND_HASH = '0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';

/** A person with a verified address and a bcrypt hash. */
function hashed(userId: string, hash = `$2b$10$${SALT_AND_HASH}`) {
  const email = { email: `${userId}@customer.example`, isEmailVerified: true };
  return person(userId, { userName: userId, email, hashedPassword: { value: hash } });
}

/**
 * Returns functions that migrate organisations to ZITADEL, and expect an exit code; one of them reads the plan and the
 * result.
 */
async function migrating(orgs: readonly unknown[], given: Parameters<typeof filledZitadel>[1] = {}) {
  const { zitadel, tokenFile } = await filledZitadel([], given);
  const places = ['--from', await exportFileWith(...orgs), '--to', zitadel.url, '--to-token-file', tokenFile];
  const migrate = (code: number, more: readonly string[] = [], ...texts: readonly (string | RegExp)[]) =>
    call(['migrate', ...places, '--with', 'all', '--yes', ...more], code, ...texts);
  const migrateAndRead = async (code: number, ...more: readonly string[]) => {
    const { stdout } = await migrate(code, ['--json', ...more]);
    const [plan] = stdout.split('\n').flatMap((line) => planEvent.safeParse(JSON.parse(line || 'null')).data ?? []);
    if (plan === undefined) throw new Error('there is no plan');
    return { plan, result: readResult(stdout) };
  };
  return { zitadel, migrate, migrateAndRead };
}

describe('a migration that is repeated after logins at the ZITADEL', () => {
  it('names a hash that differs as perhaps of the same password, and ends with 0', async () => {
    const acme = organisation('acme', { humanUsers: [hashed('ada'), hashed('bob')] });
    const { zitadel, migrate, migrateAndRead } = await migrating([acme]);
    await migrate(0);
    // ZITADEL hashes the password again at a login.
    const stored = zitadel.contents.find('acme', 'humanUsers', 'ada');
    const rehashed = { hashedPassword: { value: `$2a$14$${SALT_AND_HASH}` } };
    zitadel.contents.put('acme', 'humanUsers', 'ada', { ...stored, user: { ...Object(stored?.user), ...rehashed } });
    const { result } = await migrateAndRead(0);
    expect(result.proof.differences).toContainEqual(
      expect.objectContaining({ id: 'ada', reason: expect.stringContaining('a login has hashed the password again') }),
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
    const { migrateAndRead } = await migrating(zitadelRequest('import-request'));
    for (const attempt of ['first', 'second']) {
      const { errors, proof } = (await migrateAndRead(0)).result;
      const unexplained = proof.differences.filter(({ reason }) => reason === undefined);
      expect([attempt, errors, unexplained]).toEqual([attempt, [], []]);
    }
  });
});

describe('a migration of a member of a project grant that ZITADEL keeps in the organisation of the project', () => {
  it('finds it there, with the reason, and ends with 0', async () => {
    const { migrateAndRead } = await migrating(organisationsWithGrantMember);
    const { differences, unexpected } = (await migrateAndRead(0)).result.proof;
    expect(unexpected).toBe(0);
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
    const { migrateAndRead } = await migrating([
      organisation('one', { org: { name: 'Acme' } }),
      organisation('two', { org: { name: 'ACME ' }, humanUsers: [hashed('ada')] }),
      organisation('three', { org: { name: 'zitadel' }, humanUsers: [hashed('bob')] }),
    ]);
    const { plan, result } = await migrateAndRead(3);
    for (const refused of [plan.refused, result.errors]) expect(idsOf(refused)).toEqual(['two', 'three']);
    expect(result.moved).toMatchObject({ imported: { created: { org: 1 }, failed: { org: 2, humanUsers: 2 } } });
  });
});

describe('a migration of an application with a back-channel logout URI', () => {
  const app = { projectId: '5', name: 'Portal', backChannelLogoutUri: 'https://portal.internal.example/logout' };
  const shop = { projects: [{ projectId: '5', project: { name: 'Shop' } }], oidcApps: [{ appId: '6', app }] };

  it('warns in its plan that a ZITADEL of July 2026 may refuse the application, and explains the error', async () => {
    const { migrate } = await migrating([organisation('acme', shop)], { release: '2026-07' });
    const warning = 'oidc app 6: from July 2026 on, ZITADEL refuses an application whose `backChannelLogoutUri`';
    await migrate(3, [], warning, 'oidc app 6: ZITADEL refuses the host in `backChannelLogoutUri`');
  });
});

describe('a migration of users with one login name in several organisations', () => {
  const robot = { userId: 'robot', user: { userId: 'robot', userName: 'Admin', name: 'Robot' } };
  const users = (orgId: string) => ['alice', 'admin'].map((userName) => person(`${orgId}-${userName}`, { userName }));
  const orgs = [
    organisation('one', { humanUsers: users('one') }),
    organisation('two', { humanUsers: users('two') }),
    organisation('three', { humanUsers: [person('three-alice', { userName: 'ALICE' })], machineUsers: [robot] }),
  ];

  it('lists in its plan the users whom the ZITADEL then refuses', async () => {
    const { plan, result } = await (await migrating(orgs)).migrateAndRead(3);
    const refused = ['two-alice', 'two-admin', 'three-alice', 'robot'];
    expect([idsOf(plan.refused), idsOf(result.errors)]).toEqual([refused, refused]);
  });

  it('moves all of them to a ZITADEL whose login names carry the domain', async () => {
    const { plan } = await (await migrating(orgs, { loginNamesByDomain: true })).migrateAndRead(0);
    expect(plan.refused).toEqual([]);
  });
});

const ARGON2 = '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$c29tZWhhc2hzb21laGFzaHNvbWVoYXNoc29tZWhhc2g';
const REFUSED = 'with a password hash because of which ZITADEL (since June 2026) refuses the person: bob, eve';

describe('a migration of people whose password hashes a ZITADEL refuses', () => {
  const humanUsers = [hashed('ada'), hashed('bob', `$2b$05$${SALT_AND_HASH}`), hashed('eve', ARGON2)];
  const userMetadata = [{ id: 'bob', key: 'shoe size', value: 'NDI=' }];
  const toZitadel = (release: Release, version = measured.version) =>
    migrating([organisation('acme', { humanUsers, userMetadata })], { release, version });

  it('announces in its plan what happens, and names the people in its result', async () => {
    const { zitadel, migrate } = await toZitadel('2026-07');
    await migrate(
      3,
      [],
      '1 of 3 people with a password is active in ZITADEL, with a password hash that ZITADEL verifies by default',
      `2 ${REFUSED}`,
      `${zitadel.url} refuses the password hashes of 2 people, and therefore these people and all their records, if ZITADEL is a release of June 2026 or later`,
      'person bob: ZITADEL refuses the password hash because of its cost',
      'person eve: ZITADEL has no verifier for the password hash',
    );
    const stored = zitadel.contents.organisations.get('acme')?.sections.get('humanUsers');
    expect([...(stored?.keys() ?? [])]).toEqual(['ada']);
  });

  it('counts them in the plan for a ZITADEL of version 4.0.4', async () => {
    await (await toZitadel('4.0', 'v4.0.4')).migrate(0, [], `2 ${REFUSED}`);
  });

  it('moves them without their hashes by --accept refused-hashes, and names them', async () => {
    const { zitadel, migrate, migrateAndRead } = await toZitadel('2026-07');
    const { result } = await migrateAndRead(0, '--accept', 'refused-hashes');
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
    await migrate(0, ['--accept', 'refused-hashes']);
  });

  it('lists all of them with their addresses in plan, result and report', async () => {
    const people = Array.from({ length: 120 }, (_, index) => hashed(`person-${index}`, ARGON2));
    const { migrateAndRead } = await migrating([organisation('acme', { humanUsers: people })], { release: '2026-07' });
    const report = join(await testDirectory(), 'report.html');
    const { plan, result } = await migrateAndRead(0, '--accept', 'refused-hashes', '--report', report);
    const reasons = [expect.stringContaining('the person must activate the user')];
    const ids = people.map(({ userId }) => userId);
    for (const listed of [plan.people, result.people]) {
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

  it('announces nothing for a release that takes every hash', async () => {
    const { migrate } = await toZitadel('2.71');
    // Nobody has a seed, although all secrets were asked for.
    const seeds = 'the export has no TOTP seeds: people who used these factors';
    const { stderr } = await migrate(0, [], seeds, 'person eve: ZITADEL verifies this password hash only if its');
    expect(stderr).not.toContain('2026');
  });
});
