import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, calling, identity, identityJson } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith, migrate, prepareMigration } from '../../support/migrations/migrating.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { servedPlace } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';

/** Two instances between which organisations have been migrated with all secrets. */
async function migrated(...people: readonly object[]) {
  const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
  const orgMembers = [{ userId: 'ada', roles: ['ORG_OWNER'] }];
  const file = await exportFileWith(organisation('acme', { humanUsers: people, orgMembers }));
  await call(`import ${file} --to ${north.database}`, 0);
  const places = ['--from', north.database, '--to', south.database, '--with', 'all', '--yes'];
  const again = async (conflict: string, code: number) => {
    const migrating = await prepareMigration(north);
    const page = join(migrating.cwd, 'report.html');
    const result = await migrate([...places, '--on-conflict', conflict, '--report', page], migrating, code);
    return { result, page: await readFile(page, 'utf8') };
  };
  await again('report', 0);
  return { north, south, again };
}

const hashed = (userId: string, more: object = {}) => ({
  ...person(userId, { hashedPassword: { value: HASH } }),
  ...more,
});

describe('a second migration', () => {
  it('removes with overwrite the OTP e-mail factor that the source has removed, and names it otherwise', async () => {
    const { north, south, again } = await migrated(hashed('ada', { otpEmail: true }), hashed('bob'));
    await identityJson(['otp-email', 'remove', 'ada', ...databaseOptions(north.location)]);
    const reported = await again('report', 3);
    expect(reported.result).toMatchObject({
      errors: [{ type: 'human_user', id: 'ada' }],
      proof: {
        unexpected: 1,
        differences: [{ id: 'ada', fields: [{ path: 'otpEmail', source: 'false', target: 'true' }] }],
      },
      credentials: {
        withPassword: 2,
        kept: 1,
        others: [{ reason: 'with an OTP e-mail factor in the target only', count: 1, names: ['name of ada'] }],
      },
    });
    expect(reported.page).toContain('1 of 2 people with a password has the same password hash, second factors');
    const { result } = await again('overwrite', 0);
    expect(result).toMatchObject({
      moved: { imported: { overwritten: { humanUsers: 1 } } },
      proof: { unexpected: 0, expected: 0 },
      credentials: { withPassword: 2, kept: 2, others: [] },
    });
    expect((await identity(['compare', north.database, south.database, '--org', 'acme', '--with', 'all'])).code).toBe(
      0,
    );
  });

  it('plans the factors and passwords that an overwrite takes away', async () => {
    const people = [hashed('ada', { otpEmail: true }), hashed('bob'), person('cy', { otpCode: 'JBSWY3DPEHPK3PXP' })];
    const { north, south } = await migrated(...people);
    const bare = organisation('acme', { humanUsers: ['ada', 'bob', 'cy'].map((id) => person(id)) });
    const fresh = await servedPlace(sqlite);
    await identity(['import', await exportFileWith(bare), '--to', fresh.database]);
    const places = ['--from', fresh.database, '--to', south.database, '--with', 'all', '--on-conflict', 'overwrite'];
    const { stdout } = await identity(['migrate', '--dry-run', ...places], await prepareMigration(north));
    expect(stdout).toContain(`
Changes in the target that --on-conflict overwrite undoes
  ada (name of ada) of acme loses the password, loses the OTP e-mail factor
  bob (name of bob) of acme loses the password
  cy (name of cy) of acme loses the TOTP seed
`);
  });

  it('of a file moves the secrets that its manifest states, although the source has none of them', async () => {
    const people = [hashed('ada', { otpEmail: true }), person('cy', { otpCode: 'JBSWY3DPEHPK3PXP' })];
    const { south } = await migrated(...people);
    const bare = await servedPlace(sqlite);
    await identity([
      'import',
      await exportFileWith(organisation('acme', { humanUsers: ['ada', 'cy'].map((id) => person(id)) })),
      '--to',
      bare.database,
    ]);
    const migrating = await prepareMigration(south);
    const file = join(migrating.cwd, 'bare.json');
    const exporting = ['export', bare.database, '--to', file, '--org', 'acme', '--with', 'all'];
    await calling(migrating)(exporting, 0);
    const places = ['--from', file, '--to', south.database];
    const { stdout } = await identity(['migrate', '--dry-run', ...places, '--on-conflict', 'overwrite'], migrating);
    expect(stdout).toContain(`
Changes in the target that --on-conflict overwrite undoes
  ada (name of ada) of acme loses the password, loses the OTP e-mail factor
  cy (name of cy) of acme loses the TOTP seed
`);
    const unselected = await calling(migrating)(`migrate ${places.join(' ')} --with passwords --yes`, 64);
    expect(unselected.stderr).toContain('was exported with otp, keys, and an import includes all secrets of the file');
  });

  it('from a ZITADEL ends with 3, and names the TOTP seed that the person has lost there', async () => {
    const ada = hashed('ada', { state: 'USER_STATE_ACTIVE' });
    const withSeed = { ...ada, user: { ...ada.user, otpCode: 'JBSWY3DPEHPK3PXP' } };
    const { zitadel, tokenFile } = await filledZitadel([organisation('acme', { humanUsers: [withSeed] })]);
    const south = await servedPlace(sqlite);
    const from = ['--from', zitadel.url, '--from-token-file', tokenFile, '--org', 'acme'];
    const places = [...from, '--to', south.database, '--with', 'all', '--yes', '--on-conflict', 'overwrite'];
    await migrate(places, await prepareMigration(south));
    zitadel.contents.put('acme', 'humanUsers', 'ada', ada);
    const { moved, proof, credentials } = await migrate(places, await prepareMigration(south), 3);
    expect(moved.imported).toMatchObject({ unchanged: { humanUsers: 1 } });
    expect(proof.differences).toMatchObject([
      { id: 'ada', fields: [{ path: 'user.otpCode', secret: 'only in the target' }] },
    ]);
    expect(credentials).toMatchObject({ kept: 0, others: [{ reason: 'with a TOTP seed in the target only' }] });
  });

  it('ends with 3, as a comparison does, and names what only the target has', async () => {
    const { north, south, again } = await migrated(hashed('ada'));
    const more = organisation('acme', {
      humanUsers: [person('deleted')],
      orgMembers: [{ userId: 'deleted', roles: ['ORG_OWNER'] }],
    });
    await call(`import ${await exportFileWith(more)} --to ${south.database}`, 0);
    const { result, page } = await again('overwrite', 3);
    expect(result.proof).toMatchObject({ expected: 0, unexpected: 2 });
    expect(result.proof.differences.map(({ section, id, outcome }) => [section, id, outcome])).toEqual([
      ['humanUsers', 'deleted', 'onlyTarget'],
      ['orgMembers', 'acme_deleted', 'onlyTarget'],
    ]);
    for (const name of ['deleted', 'acme_deleted']) expect(page).toContain(name);
    const places = ['--from', north.database, '--to', south.database, '--with', 'all', '--yes'];
    const text = await calling(await prepareMigration(north))(`migrate ${places.join(' ')}`, 3);
    expect(text.stdout).toContain('2 records only in the target: an import without --mirror deletes nothing');
    expect((await identity(['compare', north.database, south.database, '--org', 'acme', '--with', 'all'])).code).toBe(
      3,
    );
  });
});
