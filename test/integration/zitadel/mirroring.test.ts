import { describe, expect, it } from 'vitest';
import { mirrorChanged, mirrorTooLarge } from '../../../shared/errors/errors.ts';
import {
  placeRefused,
  zitadelMirrorDefault,
  zitadelMirrorDeleted,
  zitadelMirrorOutdated,
} from '../../../shared/errors/placeErrors.ts';
import type { Manifest } from '../../../shared/exportFile/manifest.ts';
import { sections } from '../../../shared/organisation/allSections.ts';
import { type Organisation, organisation } from '../../support/fixtures/organisations.ts';
import { provedFile } from '../../support/fixtures/provedFile.ts';
import { DEFAULT_ORGANISATION, type Release } from '../../support/zitadel/behaviour.ts';
import { exportFromZitadel, importIntoStandIn } from '../../support/zitadel/connect.ts';
import { Contents } from '../../support/zitadel/contents.ts';
import { removeRecord } from '../../support/zitadel/removing.ts';
import { startZitadel, type ZitadelStandIn } from '../../support/zitadel/standIn.ts';
import { zitadelOrganisations } from '../../tables/importRows.ts';

const HASH = 'hash=$2a$14$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
/** An organisation with records of each kind that ZITADEL deletes, and another one that has a grant. */
const everything = [
  ...[`person ada ${HASH}`, `person bob ${HASH}`, 'robot bot', 'machineKey key bot', 'metadata bob k eHh4'],
  ...['project P', 'project Q', 'role P admin', 'role P viewer', 'role Q editor', 'api A Q', 'web W Q'],
  ...['action X', 'trigger 1 1 X', 'oidc I', 'jwt J', 'link bob I ext', 'loginPolicy I', 'labelPolicy #000000'],
  ...[
    'lockoutPolicy 5',
    'grant G Q other editor',
    'authorisation ada P - admin viewer',
    'authorisation bob Q - editor',
  ],
  ...['member ada ORG_OWNER', 'member bob ORG_OWNER', 'projectMember Q bob PROJECT_OWNER'],
  ...['grantMember Q G bob PROJECT_GRANT_OWNER', 'domain acme'],
];
const kept = [`person ada ${HASH}`, 'project P', 'role P viewer', 'authorisation ada P - viewer'];
const bobs = [`person bob ${HASH}`, 'project Q', 'role Q editor', 'grant G Q other editor'];
const other = organisation('other');
const acme = (records: readonly string[]) => zitadelOrganisations(records.map((record) => `acme ${record}`).join('; '));

/** Returns a file whose time of reading is a minute from now, because the test imports an earlier file first. */
async function fileOf(orgs: readonly Organisation[], manifest: Partial<Manifest> = {}): Promise<string> {
  return JSON.stringify(await provedFile(orgs, { ...laterThanNow(60_000), ...manifest }));
}

function laterThanNow(ms: number): Pick<Manifest, 'readTime'> {
  return { readTime: new Date(Date.now() + ms).toISOString() };
}

const mirror = { mirror: true, maxDeleted: 100, onConflict: 'report' } as const;

/** The contents after imports, because each import takes as long as a test. */
const imported = new Map<string, Contents>();

/** Returns a stand-in for ZITADEL with imported organisations. */
async function importedInto(orgs: readonly Organisation[], release: Release = '4.0'): Promise<ZitadelStandIn> {
  const key = JSON.stringify([orgs, release]);
  const zitadel = await startZitadel({ lagMs: 0, release }, imported.get(key));
  if (imported.has(key)) return zitadel;
  const { errors } = await importIntoStandIn(zitadel, await fileOf(orgs));
  expect(errors).toBeUndefined();
  imported.set(key, new Contents(zitadel.behaviour, zitadel.contents));
  return zitadel;
}

/** Returns the records of an organisation of ZITADEL, as texts. */
async function contentOf(zitadel: ZitadelStandIn, orgId = 'acme'): Promise<string[]> {
  const [found = {}] = (await exportFromZitadel(zitadel, [orgId])).orgs;
  return Object.entries(found).flatMap(([section, list]) =>
    Array.isArray(list) && section !== 'domains' ? list.map((record) => `${section} ${JSON.stringify(record)}`) : [],
  );
}

describe('a mirroring import into ZITADEL', () => {
  it.each(['2.71', '4.0', '2026-07'] as const)('deletes in %s what the file lacks', async (release) => {
    const zitadel = await importedInto([...acme(everything), other], release);
    const file = await fileOf([...acme(kept), other]);
    const tried = await importIntoStandIn(zitadel, file, { ...mirror, maxDeleted: 0, dryRun: true });
    expect(tried).not.toHaveProperty('errors');
    const before = await contentOf(zitadel);
    const done = await importIntoStandIn(zitadel, file, mirror);
    expect(done).not.toHaveProperty('errors');
    expect(done.deletions).toEqual(tried.deletions);
    expect(done.summary.deleted).toEqual({
      ...{
        humanUsers: 1,
        machineUsers: 1,
        machineKeys: 1,
        userMetadata: 1,
        userLinks: 1,
        projects: 1,
        projectRoles: 2,
      },
      ...{ apiApps: 1, oidcApps: 1, actions: 1, triggerActions: 1, oidcIdps: 1, jwtIdps: 1, loginPolicy: 1 },
      ...{ labelPolicy: 1, lockoutPolicy: 1, projectGrants: 1, userGrants: 1, orgMembers: 2, projectMembers: 1 },
      ...{ projectGrantMembers: 1, domains: 1 },
    });
    expect(done.deletions?.slice(0, 3)).toMatchObject([
      { type: 'human_user', orgId: 'acme', id: 'bob', name: 'bob' },
      { type: 'machine_user', id: 'bot' },
      { type: 'user_grant', id: 'acme_Q_bob', roles: ['editor'] },
    ]);
    expect(before.length).toBeGreaterThan(20);
    expect((await contentOf(zitadel)).map((text) => text.replace(/ .*/, ''))).toEqual([
      ...['projects', 'projectRoles', 'humanUsers', 'userGrants'],
    ]);
    const again = await importIntoStandIn(zitadel, file, { ...mirror, maxDeleted: 0 });
    expect([again.errors, again.summary.deleted, again.summary.unchanged.userGrants]).toEqual([
      undefined,
      undefined,
      1,
    ]);
  });

  it.each([
    ['a file without a manifest', { text: JSON.stringify({ orgs: acme(kept) }) }, placeRefused],
    ['a manifest without its sections', { manifest: { sections: undefined } }, placeRefused],
    ['more deletions than permitted', { given: { maxDeleted: 2 } }, mirrorTooLarge],
    [
      'a file that is older than an import',
      { manifest: { readTime: '2026-01-02T03:04:05.000Z' } },
      zitadelMirrorOutdated,
    ],
    ['the default organisation', { orgs: [organisation(DEFAULT_ORGANISATION)] }, zitadelMirrorDefault],
    [
      'the default organisation, although the call names it',
      { orgs: [organisation(DEFAULT_ORGANISATION)], given: { orgIds: ['acme', 'other', DEFAULT_ORGANISATION] } },
      zitadelMirrorDefault,
    ],
  ])('refuses %s, and changes nothing', async (_, { text, manifest, given, orgs = [] }: Refused, expected) => {
    const zitadel = await importedInto([...acme(everything), other]);
    const before = [await contentOf(zitadel), zitadel.contents.log.events.length];
    const file = text ?? (await fileOf([...acme([...kept, 'robot new']), other, ...orgs], manifest));
    const error = await importIntoStandIn(zitadel, file, { ...mirror, ...given }).catch((cause: unknown) => cause);
    expect(expected.is(error), String(error)).toBe(true);
    expect([await contentOf(zitadel), zitadel.contents.log.events.length]).toEqual(before);
  });

  it.each([
    ['a user', { aggregateType: 'user', aggregateId: 'bob', type: 'user.human.email.changed' }],
    ['a project', { aggregateType: 'project', aggregateId: 'Q', type: 'project.changed' }],
    ['a role', { aggregateType: 'project', aggregateId: 'P', type: 'project.role.changed', payload: { key: 'admin' } }],
    ['a member', { aggregateType: 'org', aggregateId: 'acme', type: 'org.member.changed', payload: { userId: 'bob' } }],
    ['a user grant', { aggregateType: 'usergrant', aggregateId: 'bob-Q', type: 'user.grant.changed' }],
    ['a policy', { aggregateType: 'org', aggregateId: 'acme', type: 'org.policy.label.changed' }],
  ])('refuses to delete %s that another user has changed, unless the call names its organisation', async (_, event) => {
    const zitadel = await importedInto([...acme(everything), other]);
    zitadel.contents.append('acme', [event], 'someone');
    const file = await fileOf([...acme(kept), other]);
    const refused = await importIntoStandIn(zitadel, file, mirror).catch((cause: unknown) => cause);
    expect(mirrorChanged.is(refused), String(refused)).toBe(true);
    const done = await importIntoStandIn(zitadel, file, { ...mirror, replaceChanged: ['acme'] });
    expect([done.errors, await contentOf(zitadel)]).toEqual([undefined, expect.any(Object)]);
    expect((await contentOf(zitadel)).length).toBe(4);
  });

  it.each([
    ['a user', 'removeUser', { id: 'bob' }, 'person bob'],
    ['a service user', 'removeUser', { id: 'bot' }, 'service user bot'],
    ['a key', 'removeMachineKey', { userId: 'bot', keyId: 'key' }, 'machine key key'],
    ['metadata', 'removeUserMetadata', { id: 'bob', key: 'k' }, 'user metadata bob_k'],
    ['a project', 'removeProject', { id: 'Q' }, 'project Q'],
    ['a role', 'removeProjectRole', { projectId: 'Q', roleKey: 'editor' }, 'project role Q_editor'],
    ['an application', 'removeApp', { projectId: 'Q', appId: 'A' }, 'api app A'],
    ['an action', 'deleteAction', { id: 'X' }, 'action X'],
    ['a trigger', 'setTriggerActions', { flowType: '1', triggerType: '1' }, 'trigger action 1_1'],
    ['an identity provider', 'removeOrgIDP', { idpId: 'I' }, 'oidc idp I'],
    ['a link', 'removeHumanLinkedIDP', { userId: 'bob', idpId: 'I', linkedUserId: 'ext' }, 'user link bob_I'],
    ['a grant', 'removeProjectGrant', { projectId: 'Q', grantId: 'G' }, 'project grant acme_Q_other'],
    ['a user grant', 'removeUserGrant', { userId: 'bob', grantId: 'bob-Q' }, 'user grant acme_Q_bob'],
    ['a member', 'removeOrgMember', { userId: 'bob' }, 'org member acme_bob'],
    ['a project member', 'removeProjectMember', { projectId: 'Q', userId: 'bob' }, 'project member acme_Q_bob'],
    [
      'a member of a grant',
      'removeProjectGrantMember',
      { projectId: 'Q', grantId: 'G', userId: 'bob' },
      'project grant member acme_Q_G_bob',
    ],
    ['a policy', 'resetLockoutPolicyToDefault', {}, 'lockout policy acme'],
    ['a domain', 'removeOrgDomain', { domain: 'acme.example' }, 'domain acme_acme.example'],
    ['texts', 'resetCustomLoginTextToDefault', { language: 'en' }, 'login text acme_en'],
  ])(
    'refuses a file with %s that another user has deleted, and changes nothing',
    async (_, call, message, expected) => {
      const orgs = [...acme([...everything, 'loginText en Welcome']), other];
      const zitadel = await importedInto(orgs);
      const by = { orgId: 'acme', editorId: 'someone' };
      expect(removeRecord(zitadel.contents, call, message, by)).toBeUndefined();
      const file = await fileOf(orgs);
      for (const dryRun of [true, false]) {
        const error = await importIntoStandIn(zitadel, file, { ...mirror, dryRun }).catch((cause: unknown) => cause);
        expect(zitadelMirrorDeleted.is(error), String(error)).toBe(true);
        expect(error).toMatchObject({
          params: { orgId: 'acme', records: expect.stringContaining(`${expected} (by user someone at 2`) },
        });
      }
      expect(zitadel.contents.log.events.at(-1)?.editorId).toBe('someone');
      const summary = (await importIntoStandIn(zitadel, file, { ...mirror, replaceChanged: ['acme'] })).summary;
      expect(Object.keys({ ...summary.created, ...summary.failed }).length).toBeGreaterThan(0);
    },
  );

  it.each([
    [
      'a person',
      ['removeUser', { id: 'bob' }],
      [`person bob ${HASH}`],
      [
        'user metadata bob_k',
        'user link bob_I',
        'user grant acme_Q_bob',
        'org member acme_bob',
        'project member acme_Q_bob',
        'project grant member acme_Q_G_bob',
      ],
    ],
    ['a service user', ['removeUser', { id: 'bot' }], ['robot bot'], ['machine key key']],
    [
      'a project',
      ['removeProject', { id: 'Q' }],
      ['project Q'],
      [
        'project role Q_editor',
        'api app A',
        'oidc app W',
        'project grant acme_Q_other',
        'user grant acme_Q_bob',
        'project member acme_Q_bob',
        'project grant member acme_Q_G_bob',
      ],
    ],
    [
      'a project grant',
      ['removeProjectGrant', { projectId: 'Q', grantId: 'G' }],
      ['grant G Q other editor'],
      ['project grant member acme_Q_G_bob'],
    ],
    ['an identity provider', ['removeOrgIDP', { idpId: 'I' }], ['oidc I'], ['user link bob_I']],
  ] as const)(
    'refuses an older file with records that were deleted together with %s, although that was created again',
    async (_, [call, message], again, children) => {
      const orgs = [...acme(everything), other];
      for (const editorId of ['someone', 'owner']) {
        const zitadel = await importedInto(orgs);
        const stale = await fileOf(orgs);
        zitadel.contents.log.advance(120_000);
        const by = { orgId: 'acme', editorId };
        expect(removeRecord(zitadel.contents, call, message, by)).toBeUndefined();
        const renewed = await importIntoStandIn(zitadel, await fileOf(acme(again)), { onConflict: 'skip' });
        expect(renewed.errors).toBeUndefined();
        const events = zitadel.contents.log.events.length;
        for (const dryRun of [true, false]) {
          const error = await importIntoStandIn(zitadel, stale, { ...mirror, dryRun }).catch((cause: unknown) => cause);
          expect(zitadelMirrorDeleted.is(error), String(error)).toBe(true);
          for (const child of children) expect(String(error)).toContain(`${child} (by user ${editorId} at 2`);
        }
        expect(zitadel.contents.log.events.length).toBe(events);
        const done = await importIntoStandIn(zitadel, stale, { ...mirror, replaceChanged: ['acme'] });
        expect(Object.keys(done.summary.created)).not.toEqual([]);
      }
    },
  );

  it('creates new records of a person whom another user deleted and who was created again', async () => {
    const zitadel = await importedInto([...acme(everything), other]);
    const by = { orgId: 'acme', editorId: 'someone' };
    expect(removeRecord(zitadel.contents, 'removeUser', { id: 'bob' }, by)).toBeUndefined();
    const all = await fileOf([...acme(everything), other]);
    const again = await importIntoStandIn(zitadel, all, { ...mirror, replaceChanged: ['acme'] });
    expect([again.errors, again.summary.created.orgMembers]).toEqual([undefined, 1]);
    const more = await fileOf([...acme([...everything, 'metadata bob new eHh4']), other]);
    const done = await importIntoStandIn(zitadel, more, mirror);
    expect([done.errors, done.summary.created]).toEqual([undefined, { userMetadata: 1 }]);
  });

  it('creates records again that the user of the token was the last to delete', async () => {
    const zitadel = await importedInto([...acme(everything), other]);
    const by = { orgId: 'acme', editorId: 'someone' };
    expect(removeRecord(zitadel.contents, 'removeOrgMember', { userId: 'bob' }, by)).toBeUndefined();
    const all = await fileOf([...acme([...everything, 'robot new']), other]);
    const again = await importIntoStandIn(zitadel, all, { ...mirror, replaceChanged: ['acme'] });
    expect(again.summary.created).toEqual({ machineUsers: 1, orgMembers: 1 });
    zitadel.contents.log.advance(120_000);
    const reduced = await fileOf([...acme(everything.filter((text) => !text.startsWith('member'))), other]);
    expect((await importIntoStandIn(zitadel, reduced, mirror)).summary.deleted).toEqual({
      machineUsers: 1,
      orgMembers: 2,
    });
    const newer = await fileOf([...acme([...everything, 'robot new']), other], laterThanNow(180_000));
    const done = await importIntoStandIn(zitadel, newer, mirror);
    expect([done.errors, done.summary.created]).toEqual([undefined, { machineUsers: 1, orgMembers: 2 }]);
  });

  it.each([
    ['a grant', 'authorisation ada', 'userGrants', 'user grant acme_P_ada'],
    ['an owner', 'member bob', 'orgMembers', 'org member acme_bob'],
    ['a service user', 'robot new', 'machineUsers', 'service user new'],
  ])(
    'refuses a file that is older than the deletion of %s by a mirroring import, unless the call names its organisation',
    async (_, record, section, expected) => {
      const records = [...everything, 'robot new'];
      const zitadel = await importedInto([...acme(records), other]);
      const stale = await fileOf([...acme(records), other]);
      zitadel.contents.log.advance(120_000);
      const reduced = records.filter((text) => !text.startsWith(record));
      const removed = await importIntoStandIn(zitadel, await fileOf([...acme(reduced), other]), mirror);
      expect([removed.errors, removed.summary.deleted]).toEqual([undefined, { [section]: 1 }]);
      const events = zitadel.contents.log.events.length;
      for (const dryRun of [true, false]) {
        const error = await importIntoStandIn(zitadel, stale, { ...mirror, dryRun }).catch((cause: unknown) => cause);
        expect(zitadelMirrorDeleted.is(error), String(error)).toBe(true);
        expect(error).toMatchObject({
          params: { orgId: 'acme', records: expect.stringContaining(`${expected} (by user `) },
        });
      }
      expect(zitadel.contents.log.events.length).toBe(events);
      const done = await importIntoStandIn(zitadel, stale, { ...mirror, replaceChanged: ['acme'] });
      expect([done.errors, done.summary.created]).toEqual([undefined, { [section]: 1 }]);
    },
  );

  it.each(['2.71', '4.0'] as const)(
    'reports at once that %s never takes the id of a deleted action or application',
    async (release) => {
      const records = ['project P', 'project Q', 'api A P', 'web W Q', 'appKey K A P', 'action X', 'trigger 1 1 X'];
      const zitadel = await importedInto([...acme(records), other], release);
      const reduced = await fileOf([...acme(['project P']), other]);
      expect((await importIntoStandIn(zitadel, reduced, mirror)).errors).toBeUndefined();
      // Another project may have an application with this id.
      const moved = records.map((record) => record.replace('web W Q', 'web W P'));
      for (const dryRun of [true, false]) {
        const { errors = [], summary } = await importIntoStandIn(zitadel, await fileOf([...acme(moved), other]), {
          ...mirror,
          dryRun,
        });
        expect(errors.map(({ type, id, reason }) => `${type} ${id} ${reason}`).sort()).toEqual([
          'action X id_used',
          'api_app A id_used',
          'app_key K dependency_not_imported',
          'trigger_action 1_1 dependency_not_imported',
        ]);
        expect(summary.created).toEqual({ projects: 1, oidcApps: 1 });
      }
    },
  );

  it('deletes records although their users have logged in, or others have changed records that stay', async () => {
    const zitadel = await importedInto([...acme(everything), other]);
    const events = [
      { aggregateType: 'user', aggregateId: 'bob', type: 'user.human.password.check.succeeded' },
      { aggregateType: 'user', aggregateId: 'ada', type: 'user.human.email.changed' },
      { aggregateType: 'org', aggregateId: 'acme', type: 'org.member.changed', payload: { userId: 'zoe' } },
    ];
    zitadel.contents.append('acme', events, 'bob');
    // More pages of events than there are users to delete.
    const login = { aggregateType: 'user', aggregateId: 'ada', type: 'user.human.password.check.succeeded' };
    for (let logins = 0; logins < 2_100; logins++) zitadel.contents.append('acme', [login], 'ada');
    const done = await importIntoStandIn(zitadel, await fileOf([...acme(kept), other]), mirror);
    expect([done.errors, (await contentOf(zitadel)).length]).toEqual([undefined, 4]);
  });

  it('keeps the records of sections that the file does not prove complete, and of users whom it leaves out', async () => {
    const zitadel = await importedInto([...acme(everything), other]);
    const complete = sections.map(({ name }) => name).filter((name) => name !== 'labelPolicy');
    const file = await fileOf([...acme([...kept, ...bobs]), other], { sections: complete, usersLeftOut: ['bob'] });
    const done = await importIntoStandIn(zitadel, file, mirror);
    const left = (await contentOf(zitadel)).filter((text) => text.includes('"bob"'));
    expect([done.errors, left.map((text) => text.replace(/ .*/, ''))]).toEqual([
      undefined,
      ['humanUsers', 'userGrants', 'orgMembers', 'projectMembers', 'projectGrantMembers'],
    ]);
    expect(zitadel.contents.find('acme', 'labelPolicy', 'acme')).toBeDefined();
  });

  it.each([
    ['a member of another organisation', ['member bob ORG_OWNER'], 'human_user bob: org_member other_bob of other'],
    [
      'an authorisation of another organisation',
      ['authorisation bob P - viewer'],
      'human_user bob: user_grant other_P_bob of other',
    ],
    [
      'a role of an authorisation',
      ['authorisation ada P - admin'],
      'project_role P_admin: user_grant other_P_ada of other',
    ],
  ])('deletes nothing if %s refers to a record to delete', async (_, records, expected) => {
    const zitadel = await importedInto([...acme(everything), other]);
    const added = zitadelOrganisations(records.map((record) => `other ${record}`).join('; '));
    expect((await importIntoStandIn(zitadel, await fileOf(added), { onConflict: 'skip' })).errors).toBeUndefined();
    const before = await contentOf(zitadel);
    for (const dryRun of [true, false]) {
      const { errors = [], summary } = await importIntoStandIn(zitadel, await fileOf(acme(kept)), {
        ...mirror,
        dryRun,
      });
      const texts = errors.map(
        ({ type, id, params }) => `${type} ${id}: ${params?.referrer} of ${params?.organisation}`,
      );
      expect(texts).toContain(expected);
      expect(new Set(errors.map(({ reason }) => reason))).toEqual(new Set(['deletion_referenced']));
      expect(summary.warnings.map(({ reason }) => reason)).toContain('nothing_deleted');
      expect([summary.deleted, await contentOf(zitadel)]).toEqual([undefined, before]);
    }
  });

  it('deletes an identity provider that a login policy of the file had', async () => {
    const start = ['oidc I', 'oidc K', 'jwt J', `person ada ${HASH}`, 'link ada I ext', 'loginPolicy I K J'];
    const zitadel = await importedInto([...acme(start), other]);
    for (const [file, deleted] of [
      [['oidc K', `person ada ${HASH}`, 'loginPolicy K'], { oidcIdps: 1, jwtIdps: 1, userLinks: 1 }],
      [[`person ada ${HASH}`, 'loginPolicy'], { oidcIdps: 1 }],
    ] as const) {
      const done = await importIntoStandIn(zitadel, await fileOf([...acme(file), other]), mirror);
      expect([done.errors, done.summary.deleted]).toEqual([undefined, deleted]);
      expect((await contentOf(zitadel)).filter((text) => text.includes('Idps')).length).toBe(file.length - 2);
    }
    const changed = await fileOf([...acme([`person ada ${HASH}`, 'oidc L', 'loginPolicy L']), other]);
    const { errors = [] } = await importIntoStandIn(zitadel, changed, mirror);
    expect(errors.map(({ id, reason }) => `${id} ${reason}`)).toEqual(['acme content_kept']);
  });

  it('deletes nothing if the file contains a reference to a record that it lacks', async () => {
    const zitadel = await importedInto([...acme(everything), other]);
    const file = await fileOf([...acme([...kept, 'authorisation ada Q - editor']), other]);
    const { errors = [], summary } = await importIntoStandIn(zitadel, file, mirror);
    expect(errors.map(({ type, id, reason }) => `${type} ${id} ${reason}`)).toEqual(
      expect.arrayContaining(['project Q deletion_referenced', 'project_role Q_editor deletion_referenced']),
    );
    expect(summary.deleted).toBeUndefined();
  });

  it.each([
    ['has other content', 'role P viewer group=other', 'content_kept'],
    ['is refused by ZITADEL', 'metadata none k eHh4', undefined],
  ])('deletes nothing if a record of the file %s', async (_, record, reason) => {
    const zitadel = await importedInto([...acme(everything), other]);
    const before = await contentOf(zitadel);
    const file = await fileOf([...acme([...kept.filter((text) => !record.startsWith(text)), record]), other]);
    const { errors = [], summary } = await importIntoStandIn(zitadel, file, mirror);
    expect(errors.map((error) => error.reason)).toEqual([reason ?? expect.any(String)]);
    expect([summary.deleted, await contentOf(zitadel)]).toEqual([undefined, before]);
    const skipping = await importIntoStandIn(zitadel, file, { ...mirror, onConflict: 'skip' });
    expect(skipping.summary.deleted === undefined).toBe(reason === undefined);
  });

  it('gives names and keys of deleted records to new records of the file', async () => {
    const zitadel = await importedInto([...acme(everything), other]);
    const renewed = [`person bob2 bob ${HASH}`, 'project Q2 Q', 'role Q2 editor', 'action X2 X', 'api A2 Q2 A'];
    const again = [...renewed, 'authorisation bob2 Q2 - editor', 'grant G2 Q2 other editor', 'member bob2 ORG_OWNER'];
    const done = await importIntoStandIn(zitadel, await fileOf([...acme([...kept, ...again]), other]), mirror);
    expect([done.errors, done.summary.created]).toMatchObject([undefined, { humanUsers: 1, projects: 1, actions: 1 }]);
    const after = await contentOf(zitadel);
    expect([after.length, after.filter((text) => /"(?:bob|Q|X|A)"/.test(text)).length]).toEqual([12, 4]);
  });

  it('lists what ZITADEL does not delete, deletes the rest, and deletes it when it is repeated', async () => {
    const zitadel = await importedInto([...acme(everything), other]);
    zitadel.behaviour.closing = (path) => (path.endsWith('/RemoveUser') ? 'refused' : 'done');
    const file = await fileOf([...acme(kept), other]);
    const { errors = [], summary } = await importIntoStandIn(zitadel, file, mirror);
    expect(errors.map(({ type, id, reason }) => `${type} ${id} ${reason}`).sort()).toEqual([
      'human_user bob deletion_refused',
      'machine_user bot deletion_refused',
    ]);
    expect([summary.failed, summary.deleted?.projects]).toEqual([{}, 1]);
    zitadel.behaviour.closing = () => 'done';
    const repeated = await importIntoStandIn(zitadel, file, mirror);
    expect([repeated.errors, repeated.summary.deleted]).toEqual([undefined, { humanUsers: 1, machineUsers: 1 }]);
  });

  it('deletes a record again that ZITADEL did not delete because of a concurrent change', async () => {
    const zitadel = await importedInto([...acme(everything), other]);
    const failed = new Set<string>();
    zitadel.behaviour.closing = (path) => {
      if (failed.has(path)) return 'done';
      failed.add(path);
      return 'refused';
    };
    const done = await importIntoStandIn(zitadel, await fileOf([...acme(kept), other]), mirror);
    expect([done.errors, (await contentOf(zitadel)).length]).toEqual([undefined, 4]);
  });

  it.each(['/RemoveUserGrant', '/RemoveApp', '/RemoveProject', '/RemoveUser', '/DeleteAction'])(
    'continues with the same file after an interruption at %s, although the deletions are later than the file',
    async (call) => {
      const zitadel = await importedInto([...acme(everything), other]);
      const renewed = [`person bob2 bob ${HASH}`, 'project Q2 Q', 'role Q2 editor', 'action X2 X', 'api A2 Q2 A'];
      const again = ['authorisation bob2 Q2 - editor', 'grant G2 Q2 other editor', 'member bob2 ORG_OWNER'];
      const file = await fileOf([...acme([...kept, ...renewed, ...again]), other]);
      zitadel.contents.log.advance(120_000);
      const stop = new AbortController();
      zitadel.behaviour.closing = (path) => {
        if (path.endsWith(call)) stop.abort(new Error('stopped'));
        return 'done';
      };
      await expect(importIntoStandIn(zitadel, file, { ...mirror, signal: stop.signal })).rejects.toThrow();
      const done = await importIntoStandIn(zitadel, file, mirror);
      expect([done.errors, (await contentOf(zitadel)).length]).toEqual([undefined, 12]);
    },
  );

  it.each([
    ['changed', { aggregateType: 'user', aggregateId: 'bob', type: 'user.human.email.changed' }, 'deletion_of_changed'],
    [
      'made a member',
      { aggregateType: 'org', aggregateId: 'other', type: 'org.member.added', payload: { userId: 'bob' } },
      'deletion_referenced',
    ],
  ])('deletes nothing more if a user was %s since the import began', async (_, event, reason) => {
    const zitadel = await importedInto([...acme(everything), other]);
    const file = await fileOf([...acme([...kept, 'robot new']), other]);
    const onStarted = () =>
      zitadel.contents.append(event.aggregateId === 'other' ? 'other' : 'acme', [event], 'someone');
    const { errors = [], summary } = await importIntoStandIn(zitadel, file, { ...mirror, onStarted });
    expect([errors.map((error) => error.reason), summary.deleted, summary.created]).toEqual([
      [reason],
      undefined,
      { machineUsers: 1 },
    ]);
  });

  it('keeps the last active owner of the instance besides the user of the token', async () => {
    const zitadel = await importedInto([
      ...acme([...everything, `person eve ${HASH} state=USER_STATE_INACTIVE`]),
      other,
    ]);
    const roles = ['IAM_OWNER'];
    zitadel.behaviour.instanceMembers = [
      { userId: 'bob', roles },
      { userId: 'eve', roles },
    ];
    const file = await fileOf([...acme([...kept, `person eve ${HASH} state=USER_STATE_INACTIVE`]), other]);
    const { errors = [], summary } = await importIntoStandIn(zitadel, file, mirror);
    expect(errors.map(({ id, reason }) => `${id} ${reason}`)).toEqual(['bob deletion_of_owner']);
    expect(summary.deleted).toBeUndefined();
    zitadel.behaviour.instanceMembers = [
      { userId: 'bob', roles },
      { userId: 'ada', roles },
    ];
    const done = await importIntoStandIn(zitadel, file, mirror);
    expect([done.errors, done.summary.deleted]).toMatchObject([undefined, { humanUsers: 1, instanceMembers: 1 }]);
    expect(done.deletions?.[2]).toEqual({ type: 'instance_member', orgId: 'acme', id: 'bob', roles });
  });

  it('keeps the user of the token', async () => {
    const zitadel = await importedInto([...acme(everything), other]);
    zitadel.tokens.set('bot', 'bot-token');
    zitadel.contents.put('acme', 'machineUsers', 'owner', { userId: 'owner', user: { userName: 'owner', name: 'O' } });
    const file = await fileOf([...acme(everything), other]);
    const given = { ...mirror, replaceChanged: ['acme'] };
    const { errors = [], summary } = await importIntoStandIn(zitadel, file, given);
    expect(errors.map(({ id, reason }) => `${id} ${reason}`)).toContain('owner deletion_of_caller');
    expect(summary.deleted).toBeUndefined();
  });
});

/** A refused call: the manifest's and the call's other values. */
interface Refused {
  readonly text?: string;
  readonly manifest?: Partial<Manifest>;
  readonly given?: { readonly maxDeleted?: number; readonly orgIds?: readonly string[] };
  readonly orgs?: readonly Organisation[];
}
