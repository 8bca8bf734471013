import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { calling, identity } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { migrate, prepareMigration } from '../../support/migrations/migrating.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { DEFAULT_ORGANISATION } from '../../support/zitadel/behaviour.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const all = ['--with', 'passwords,otp,keys'];
const project = (projectId: string) => ({ projectId, project: { name: `Project ${projectId}` } });
const app = (appId: string) => ({ appId, app: { projectId: '1', name: `App ${appId}` } });
const action = (actionId: string) => ({
  actionId,
  action: { name: `action${actionId}`, script: 'return', timeout: '10s' },
});
const acme = organisation('acme', {
  humanUsers: people(2),
  projects: [project('1'), project('2')],
  oidcApps: [app('11'), app('12')],
  apiApps: [app('13')],
  actions: [action('21'), action('22')],
});
/** The records of `acme` that are inactive in ZITADEL. */
const inactive = [
  { section: 'projects', type: 'project', key: 'projectId', id: '2', state: 'PROJECT_STATE_INACTIVE' },
  { section: 'oidcApps', type: 'oidc_app', key: 'appId', id: '12', state: 'APP_STATE_INACTIVE' },
  { section: 'apiApps', type: 'api_app', key: 'appId', id: '13', state: 'APP_STATE_INACTIVE' },
  { section: 'actions', type: 'action', key: 'actionId', id: '22', state: 'ACTION_STATE_INACTIVE' },
];

/** A ZITADEL with `acme`, in which some records are switched off. */
async function source() {
  const filled = await filledZitadel([acme]);
  const { contents } = filled.zitadel;
  for (const { section, id, state } of inactive)
    contents.put('acme', section, id, { ...contents.find('acme', section, id), state });
  return { ...filled, from: ['--from', filled.zitadel.url, '--from-token-file', filled.tokenFile] };
}

describe('a migration out of a ZITADEL', () => {
  it('keeps projects, applications and actions inactive in an instance', async () => {
    const { zitadel, tokenFile, from } = await source();
    const north = await servedPlace(sqlite);
    const migrating = await prepareMigration(north);
    const result = await migrate([...from, '--to', north.database, ...all, '--yes'], migrating);
    expect(result).toMatchObject({ outcome: 'done', proof: { expected: 0, unexpected: 0 } });
    const file = join(await testDirectory(), 'north.json');
    await identity(['export', north.database, '--to', file, '--org', 'acme'], migrating);
    const [exported] = JSON.parse(await readFile(file, 'utf8')).orgs;
    for (const { section, key, id, state } of inactive)
      expect(exported[section]).toContainEqual(expect.objectContaining({ [key]: id, state }));
    expect(JSON.stringify(exported).match(/_STATE_INACTIVE/g)).toHaveLength(inactive.length);
    // The present state in ZITADEL differs.
    zitadel.contents.put('acme', 'projects', '1', { ...project('1'), state: 'PROJECT_STATE_INACTIVE' });
    const sides = ['compare', zitadel.url, north.database, '--token-file', tokenFile, '--org', 'acme'];
    await calling(migrating)(sides, 3, 'state: "PROJECT_STATE_INACTIVE" | (absent)');
  });

  it('keeps OTP e-mail factors, and leaves out the memberships of users whose organisation stays', async () => {
    const { zitadel, from } = await source();
    const [ada, bob] = people(2).map(({ userId }) => userId);
    for (const userId of [ada, bob]) zitadel.contents.setOtpEmail(userId ?? '', true);
    zitadel.contents.setOtpEmail(bob ?? '', false);
    zitadel.contents.users.set('creator', DEFAULT_ORGANISATION);
    const creator = { userId: 'creator', roles: ['ORG_OWNER'], preferredLoginName: 'root@zitadel.localhost' };
    zitadel.contents.put('acme', 'orgMembers', 'creator', creator);
    const north = await servedPlace(sqlite);
    const migrating = await prepareMigration(north);
    const result = await migrate([...from, '--to', north.database, ...all, '--yes'], migrating);
    expect(result).toMatchObject({
      outcome: 'done',
      errors: [],
      proof: { expected: 0, unexpected: 0 },
      credentials: { withPassword: 2, kept: 2, secondFactors: 'otp' },
    });
    expect(result.warnings).toContainEqual({
      type: 'export',
      reason: 'memberships_left',
      params: { organisation: 'acme', memberships: 'creator (root@zitadel.localhost) is ORG_OWNER' },
      message:
        'in organisation acme, memberships of users whose own organisation does not move are omitted: creator (root@zitadel.localhost) is ORG_OWNER',
    });
    const file = join(await testDirectory(), 'north.json');
    await identity(['export', north.database, '--to', file, '--org', 'acme', '--with', 'otp'], migrating);
    const [exported] = JSON.parse(await readFile(file, 'utf8')).orgs;
    const holders = exported.humanUsers.filter((person: { otpEmail?: boolean }) => person.otpEmail === true);
    expect(holders).toMatchObject([{ userId: ada }]);
    expect(exported.orgMembers).toBeUndefined();
  });

  it('leaves out grants to users and organisations that stay, and warns of them', async () => {
    const { zitadel, from } = await source();
    const { contents } = zitadel;
    contents.users.set('creator', DEFAULT_ORGANISATION);
    contents.put('acme', 'projects', 'shop', { projectId: 'shop', project: { name: 'Shop' } });
    contents.put('acme', 'projectRoles', 'shop_buyer', { projectId: 'shop', roleKey: 'buyer' });
    contents.put('acme', 'userGrants', 'left', { userId: 'creator', projectId: 'shop', roleKeys: ['buyer'] });
    const projectGrant = { projectId: 'shop', grantedOrgId: DEFAULT_ORGANISATION, roleKeys: ['buyer'] };
    contents.put('acme', 'projectGrants', 'granted', { grantId: 'granted', projectGrant });
    const north = await servedPlace(sqlite);
    const args = [...from, '--to', north.database, ...all, '--yes'];
    const result = await migrate(args, await prepareMigration(north));
    expect(result).toMatchObject({ outcome: 'done', errors: [], proof: { unexpected: 0 } });
    expect(result.warnings).toMatchObject([
      { reason: 'grants_left', params: { grants: 'creator has buyer in project shop' } },
      { reason: 'grants_left', params: { grants: `${DEFAULT_ORGANISATION} has buyer in project shop` } },
    ]);
  });

  it('warns of OTP e-mail factors that the token may not read', async () => {
    const { zitadel, from } = await source();
    zitadel.behaviour.hidesEvents = true;
    const north = await servedPlace(sqlite);
    const result = await migrate([...from, '--to', north.database, ...all, '--yes'], await prepareMigration(north));
    expect(result).toMatchObject({ outcome: 'done', credentials: { secondFactors: 'totp' } });
    expect(result.warnings).toContainEqual({
      type: 'export',
      reason: 'factors_unknown',
      params: { organisation: 'acme', problem: expect.stringMatching(/^http/) },
      message: expect.stringMatching(/^OTP e-mail factors of organisation acme are unknown, and do not move: http/),
    });
  });

  it('names people who lose OTP e-mail in another ZITADEL', async () => {
    const { zitadel: other, from } = await source();
    const [ada] = people(1);
    other.contents.setOtpEmail(ada?.userId ?? '', true);
    const { zitadel, tokenFile } = await filledZitadel([]);
    const to = ['--to', zitadel.url, '--to-token-file', tokenFile];
    const result = await migrate([...from, ...to, ...all, '--yes'], { env: {}, cwd: await testDirectory() });
    expect(result).toMatchObject({ outcome: 'done', proof: { unexpected: 0 } });
    expect(result.people).toMatchObject([
      { id: ada?.userId, address: 'person.0@customer.example', reasons: [expect.stringContaining('OTP e-mail')] },
    ]);
  });

  it('switches them off in another ZITADEL, and proves it', async () => {
    const { from } = await source();
    const { zitadel, tokenFile } = await filledZitadel([]);
    const to = ['--to', zitadel.url, '--to-token-file', tokenFile];
    const migrating = { env: {}, cwd: await testDirectory() };
    const result = await migrate([...from, ...to, ...all, '--yes'], migrating);
    expect(result).toMatchObject({ outcome: 'done', proof: { unexpected: 0 } });
    for (const { section, id, state } of inactive)
      expect(zitadel.contents.find('acme', section, id)).toMatchObject({ state });
    expect(JSON.stringify(result.leftToDo)).not.toContain('deactivate');
  });
});
