import { describe, expect, it } from 'vitest';
import { because } from '../../../shared/errors/recordIssues.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import type { Release, ZitadelBehaviour } from '../../support/zitadel/behaviour.ts';
import { foundError, importIntoStandIn } from '../../support/zitadel/connect.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';
import { importsOf, type ZitadelStandIn } from '../../support/zitadel/standIn.ts';

const releases: readonly Release[] = ['2.71', '4.0', '2026-07'];
const never = { attempts: () => 2, initialDelayMs: 1, maxDelayMs: 1 };

const robot = (userId: string, userName = userId) => ({ userId, user: { userId, userName, name: userName } });
const application = (appId: string, projectId: string) => ({ appId, app: { projectId, name: `app ${appId}` } });
const key = (keyId: string, userId: string) => ({ keyId, userId, type: 'KEY_TYPE_JSON' });
const secret = { clientId: 'c', clientSecret: 's', issuer: 'https://idp.example' };

/** The organisation of the other tenant. */
const other = organisation('1', {
  humanUsers: [person('ada'), person('ben')],
  machineUsers: [robot('ci')],
  machineKeys: [key('key', 'ci')],
  projects: [{ projectId: 'shop', project: { name: 'Shop' } }],
  projectRoles: [{ projectId: 'shop', roleKey: 'admin', displayName: 'Admin' }],
  oidcApps: [application('web', 'shop')],
  apiApps: [application('api', 'shop')],
  actions: [{ actionId: 'act', action: { name: 'act', script: 'function act() {}', timeout: '10s' } }],
  oidcIdps: [{ idpId: 'idp', idp: { name: 'IdP', ...secret } }],
  projectGrants: [{ grantId: 'grant', projectGrant: { projectId: 'shop', grantedOrgId: '2', roleKeys: ['admin'] } }],
});

const publicKey = Buffer.from('key').toString('base64');

/** A copy of the other tenant's records under a new id, with a few that are new. */
const copy = organisation('9', {
  humanUsers: [person('ada', { userName: 'ada-9' }), person('new')],
  machineUsers: [robot('ci', 'ci-9'), robot('ben', 'ben-9'), robot('bot')],
  machineKeys: [
    { ...key('mine', 'ci'), publicKey },
    { ...key('key', 'bot'), publicKey },
  ],
  userMetadata: [{ id: 'ada', key: 'zone', value: 'YQ==' }],
  projects: [
    { projectId: 'shop', project: { name: 'Stolen' } },
    { projectId: 'fresh', project: { name: 'Fresh' } },
  ],
  projectRoles: [
    { projectId: 'shop', roleKey: 'other', displayName: 'Other' },
    { projectId: 'fresh', roleKey: 'admin', displayName: 'Admin' },
  ],
  oidcApps: [application('web', 'fresh'), application('mine', 'shop')],
  apiApps: [application('api', 'fresh')],
  actions: [{ actionId: 'act', action: { name: 'mine', script: 'function mine() {}', timeout: '10s' } }],
  triggerActions: [{ flowType: '1', triggerType: '1', actionIds: ['act'] }],
  jwtIdps: [{ idpId: 'idp', idp: { name: 'Mine', issuer: 'i', jwtEndpoint: 'j', keysEndpoint: 'k', headerName: 'h' } }],
  userLinks: [{ userId: 'new', idpId: 'idp', providedUserId: 'x', providedUserName: 'x' }],
  loginPolicy: { allowUsernamePassword: true, idps: [{ idpId: 'idp', ownerType: 'IDP_OWNER_TYPE_ORG' }] },
  projectGrants: [{ grantId: 'grant', projectGrant: { projectId: 'fresh', grantedOrgId: '2', roleKeys: ['admin'] } }],
  userGrants: [
    { userId: 'ada', projectId: 'fresh', roleKeys: ['admin'] },
    { userId: 'new', projectId: 'fresh', roleKeys: ['admin'] },
  ],
  orgMembers: [{ userId: 'ada', roles: ['ORG_OWNER'] }],
  projectMembers: [{ projectId: 'fresh', userId: 'ada', roles: ['PROJECT_OWNER'] }],
});

const refused = {
  actions: 1,
  apiApps: 1,
  humanUsers: 1,
  jwtIdps: 1,
  machineKeys: 2,
  machineUsers: 2,
  oidcApps: 2,
  orgMembers: 1,
  projectGrants: 1,
  projectMembers: 1,
  projectRoles: 1,
  projects: 1,
  triggerActions: 1,
  userGrants: 1,
  userLinks: 1,
  userMetadata: 1,
};

function withOther(given: Partial<ZitadelBehaviour> = {}) {
  return filledZitadel([other, organisation('2', {})], given);
}

/** The events of an import by another owner than the organisation of its file. */
function foreignEvents({ contents }: ZitadelStandIn, since: number, orgId = '9') {
  return contents.log.events
    .slice(since)
    .filter(({ aggregateType, aggregateId, owner }) => {
      const first = contents.log.events.find(
        (event) => event.aggregateType === aggregateType && event.aggregateId === aggregateId,
      );
      return owner !== orgId || first?.owner !== orgId;
    })
    .map(({ type, aggregateId }) => `${type} ${aggregateId}`);
}

const ORGANISATION_1 = '1 (Organisation 1)';
const eventsOf = ({ contents }: ZitadelStandIn) => contents.log.events.length;

describe.each(releases)('an import into a ZITADEL of release %s', (release) => {
  it('sends no record whose id another organisation has, nor what refers to it', async () => {
    const { zitadel } = await withOther({ release });
    const before = eventsOf(zitadel);
    const tried = await importIntoStandIn(zitadel, [copy], { dryRun: true });
    expect(importsOf(zitadel)).toEqual([]);
    const { errors = [], summary, elsewhere } = await importIntoStandIn(zitadel, [copy]);
    expect(foreignEvents(zitadel, before)).toEqual([]);
    expect(elsewhere).toBeUndefined();
    expect(summary.failed).toEqual(refused);
    expect(tried.summary.failed).toEqual(refused);
    expect(tried.errors).toEqual(errors);
    expect(summary.created).toEqual(tried.summary.created);
    expect(summary.created).toEqual({
      org: 1,
      humanUsers: 1,
      machineUsers: 1,
      projects: 1,
      projectRoles: 1,
      loginPolicy: 1,
      userGrants: 1,
    });
    const taken = (holder: string) => because('id_taken', { owner: `organisation ${ORGANISATION_1}`, holder });
    const dependent = (target: string) => because('dependency_not_imported', { target });
    expect(errors).toEqual(
      expect.arrayContaining([
        foundError('human_user', 'ada', taken('a person')),
        foundError('machine_user', 'ben', taken('a person')),
        foundError('project', 'shop', taken('a project')),
        foundError('api_app', 'api', taken('an application')),
        foundError('org_member', '9_ada', dependent('person ada (ada-9)')),
        foundError('machine_user_key', 'mine', dependent('service user ci (ci-9)')),
      ]),
    );
  });

  it('sends none of two records of a file that share an id across organisations but the first', async () => {
    const { zitadel } = await withOther({ release });
    const before = eventsOf(zitadel);
    const { errors = [], summary } = await importIntoStandIn(zitadel, [
      organisation('8', { machineUsers: [robot('twin', 'a')] }),
      organisation('9', { machineUsers: [robot('twin', 'b')], humanUsers: [person('twin')] }),
    ]);
    expect(summary.created).toEqual({ org: 2, machineUsers: 1 });
    expect(errors.map(({ type, id }) => `${type} ${id}`).sort()).toEqual(['human_user twin', 'machine_user twin']);
    expect(foreignEvents(zitadel, before, '8').filter((text) => text.startsWith('user.'))).toEqual([]);
  });

  it('writes nothing to records of other organisations that the file does not have', async () => {
    const { zitadel } = await withOther({ release });
    const before = eventsOf(zitadel);
    const { errors = [] } = await importIntoStandIn(zitadel, [
      organisation('9', {
        machineKeys: [{ ...key('mine', 'ci'), publicKey }],
        userMetadata: [{ id: 'ada', key: 'zone', value: 'YQ==' }],
        projectRoles: [{ projectId: 'shop', roleKey: 'x', displayName: 'X' }],
        oidcApps: [application('mine', 'shop')],
        projectGrantMembers: [{ projectId: 'shop', grantId: 'grant', userId: 'ada', roles: ['PROJECT_GRANT_OWNER'] }],
      }),
    ]);
    expect(foreignEvents(zitadel, before)).toEqual([]);
    expect(errors).toHaveLength(5);
    const foreign = because('reference_foreign', { field: 'app.projectId', id: 'shop', organisation: ORGANISATION_1 });
    expect(errors).toContainEqual(foundError('oidc_app', 'mine', foreign));
  });

  it('lets the members of a project grant to their organisation through', async () => {
    const { zitadel } = await withOther({ release });
    const { errors, summary } = await importIntoStandIn(zitadel, [
      organisation('2', {
        humanUsers: [person('eve')],
        projectGrantMembers: [{ projectId: 'shop', grantId: 'grant', userId: 'eve', roles: ['PROJECT_GRANT_OWNER'] }],
      }),
    ]);
    expect(errors).toBeUndefined();
    expect(summary.created).toEqual({ humanUsers: 1, projectGrantMembers: 1 });
  });

  it('creates records with deleted ids only in the organisation of the file', async () => {
    const { zitadel } = await withOther({ release });
    const { contents } = zitadel;
    contents.remove('1', 'humanUsers', 'ada');
    contents.remove('1', 'machineUsers', 'ci');
    contents.remove('1', 'projects', 'shop');
    contents.remove('1', 'actions', 'act');
    const { actions, projects } = copy;
    const again = organisation('9', {
      humanUsers: [person('ada', { otpCode: 'JBSWY3DPEHPK3PXP' })],
      machineUsers: [robot('ci')],
      projects: Array.isArray(projects) ? projects.slice(0, 1) : [],
      actions,
    });
    const { errors = [], summary } = await importIntoStandIn(zitadel, [again]);
    const isOld = release === '2.71';
    expect(summary.created).toEqual(
      isOld ? { org: 1 } : { org: 1, humanUsers: 1, machineUsers: 1, projects: 1, actions: 1 },
    );
    expect(errors.map(({ type, id }) => `${type} ${id}`)).toEqual(
      isOld ? ['human_user ada', 'machine_user ci', 'project shop', 'action act'] : [],
    );
    for (const { reason } of errors) expect(reason).toBe('id_deleted_elsewhere');
    expect(contents.find('1', 'humanUsers', 'ada')).toBeUndefined();
    expect(contents.find('9', 'humanUsers', 'ada') !== undefined).toBe(!isOld);
  });

  it('warns of records that the target has deleted and gets again, in the dry run too', async () => {
    const { zitadel } = await withOther({ release });
    zitadel.contents.remove('1', 'humanUsers', 'ada');
    for (const dryRun of [true, false]) {
      const { summary } = await importIntoStandIn(zitadel, [other], { dryRun });
      expect(summary.created).toEqual({ humanUsers: 1 });
      expect(summary.warnings.filter(({ reason }) => reason === 'record_recreated')).toMatchObject([
        { type: 'human_user', id: 'ada', message: expect.stringContaining('the target has deleted the record') },
      ]);
    }
    const { summary } = await importIntoStandIn(zitadel, [other]);
    expect(summary.warnings.filter(({ reason }) => reason === 'record_recreated')).toEqual([]);
  });

  it('refuses an organisation that was deleted, in the dry run too, and sends nothing of it', async () => {
    const { zitadel } = await filledZitadel([], { release });
    const gone = organisation('1', {
      humanUsers: [person('ada')],
      projects: [{ projectId: 'shop', project: { name: 'Shop' } }],
    });
    const kept = organisation('2', { humanUsers: [person('ben')] });
    await importIntoStandIn(zitadel, [gone]);
    zitadel.contents.delete('1');
    const again = { ...gone, humanUsers: [person('new')], projects: [] };
    const reason = release === '2.71' ? 'organisation_deleted' : 'organisation_left';
    const refusal = because(reason, { organisation: ORGANISATION_1 });
    for (const dryRun of [true, false]) {
      const before = importsOf(zitadel).length;
      const {
        errors = [],
        summary,
        success,
      } = await importIntoStandIn(zitadel, [again, kept], { dryRun, polls: never });
      expect(errors).toEqual([foundError('human_user', 'new', refusal), foundError('org', '1', refusal)]);
      expect(summary).toMatchObject({ created: { org: 1, humanUsers: 1 }, failed: { org: 1, humanUsers: 1 } });
      expect(success.orgs?.map(({ orgId }) => orgId)).toEqual(['2']);
      // The organisation and the person of the other one.
      expect(importsOf(zitadel).length - before).toBe(dryRun ? 0 : 2);
    }
  });

  it('refuses people of deleted organisations by their name', async () => {
    const { zitadel } = await withOther({ release });
    zitadel.contents.delete('1');
    const { errors = [] } = await importIntoStandIn(zitadel, [organisation('9', { humanUsers: [person('ada')] })]);
    const deleted = because('id_deleted', { holder: 'a person', owner: `organisation ${ORGANISATION_1}` });
    expect(errors).toEqual([foundError('human_user', 'ada', deleted)]);
  });
});

describe('an import into a ZITADEL', () => {
  it('counts a user whom another import creates at the same time as existing, unless another user has the name', async () => {
    const { zitadel } = await filledZitadel([organisation('1', { humanUsers: [person('ada')] })], {
      races: (userId) => userId === 'ann' || userId === 'bot',
    });
    const users = { humanUsers: [person('ann'), person('bob'), person('twin', { userName: 'name of ada' })] };
    const { errors, summary } = await importIntoStandIn(zitadel, [
      organisation('9', { ...users, machineUsers: [robot('bot')] }),
    ]);
    expect(summary.created).toEqual({ org: 1, humanUsers: 1 });
    expect(summary.unchanged).toEqual({ humanUsers: 1, machineUsers: 1 });
    expect(errors).toMatchObject([
      { type: 'human_user', id: 'twin', reason: 'login_name_taken', message: expect.stringContaining('V3-DKcYh') },
    ]);
  });

  it('ends with a comparison of what it has created, and names what the target does not show', async () => {
    const { zitadel } = await filledZitadel([], { lagMs: 600_000 });
    const { errors, summary } = await importIntoStandIn(zitadel, [organisation('9', { humanUsers: [person('ann')] })], {
      polls: never,
    });
    const missing = because('creation_not_exported', {});
    expect(errors).toEqual([foundError('human_user', 'ann', missing), foundError('org', '9', missing)]);
    expect(summary.created).toEqual({ org: 1, humanUsers: 1 });
  });

  it('takes a deleted organisation with the token of a user who was not its member', async () => {
    const { zitadel } = await filledZitadel([organisation('1')], { release: '2026-07' });
    zitadel.contents.delete('1');
    const { errors, summary } = await importIntoStandIn(zitadel, [organisation('1')]);
    expect({ errors, created: summary.created }).toEqual({ errors: undefined, created: { org: 1 } });
  });

  it('refuses ids of providers of the instance', async () => {
    const { zitadel } = await withOther();
    zitadel.contents.append('instance', [
      { aggregateType: 'instance', aggregateId: 'instance', type: 'instance.idp.saml.added', payload: { id: 'saml' } },
    ]);
    const idps = [{ idpId: 'saml', idp: { name: 'Mine', ...secret } }];
    const { errors } = await importIntoStandIn(zitadel, [organisation('9', { oidcIdps: idps })]);
    const taken = because('id_taken', { owner: 'the instance', holder: 'an identity provider' });
    expect(errors).toEqual([foundError('oidc_idp', 'saml', taken)]);
  });

  it('does not import if the instance hides its oldest events', async () => {
    const { zitadel } = await withOther();
    zitadel.contents.log.events.shift();
    await expect(importIntoStandIn(zitadel, [copy])).rejects.toThrow('does not return its oldest events');
  });

  it('reads aggregates one by one if the instance has more events than the file has ids', async () => {
    const { zitadel } = await withOther();
    zitadel.contents.append(
      '1',
      Array.from({ length: 900 }, (_, index) => ({
        aggregateType: 'user',
        aggregateId: `u${index}`,
        type: 'user.human.added',
      })),
    );
    for (let index = 0; index < 3; index++)
      zitadel.contents.append(
        '1',
        Array.from({ length: 700 }, (_, number) => ({
          aggregateType: 'user',
          aggregateId: `v${index}.${number}`,
          type: 'user.human.added',
        })),
      );
    const { errors = [], summary } = await importIntoStandIn(zitadel, [
      organisation('9', { machineUsers: [robot('ben', 'ben-9')] }),
    ]);
    expect(errors.map(({ id }) => id)).toEqual(['ben']);
    expect(summary.created).toEqual({ org: 1 });
  });

  it('names the place of a record whose id another organisation takes during the import', async () => {
    const { zitadel } = await withOther({ release: '2.71' });
    const {
      errors = [],
      elsewhere = [],
      summary,
    } = await importIntoStandIn(
      zitadel,
      [organisation('9', { machineUsers: [robot('late')], orgMembers: [{ userId: 'late', roles: ['ORG_OWNER'] }] })],
      {
        onStarted: () => {
          zitadel.contents.append('1', [{ aggregateType: 'user', aggregateId: 'late', type: 'user.machine.added' }]);
        },
      },
    );
    expect(summary.created).toEqual({ org: 1 });
    const taken = because('written_elsewhere', { organisation: ORGANISATION_1 });
    expect(elsewhere).toEqual([foundError('machine_user', 'late', taken)]);
    expect(errors.map(({ type }) => type).sort()).toEqual(['machine_user', 'org_member']);
    expect(zitadel.contents.find('9', 'orgMembers', 'late')).toBeUndefined();
  });

  it('finds a record whose id another organisation takes before it writes, in a newer release', async () => {
    const { zitadel } = await withOther();
    const taken = { aggregateType: 'project', aggregateId: 'late', type: 'project.added' };
    const { elsewhere = [], summary } = await importIntoStandIn(
      zitadel,
      [organisation('9', { projects: [{ projectId: 'late', project: { name: 'Late' } }] })],
      { onStarted: () => zitadel.contents.append('1', [taken]) },
    );
    expect(summary.created).toEqual({ org: 1 });
    expect(elsewhere.map(({ type, id }) => `${type} ${id}`)).toEqual(['project late']);
  });

  it('finds an application whose id another organisation takes during the import', async () => {
    const { zitadel } = await withOther();
    const payload = { appId: 'late' };
    const taken = { aggregateType: 'project', aggregateId: 'shop', type: 'project.application.added', payload };
    const { elsewhere = [] } = await importIntoStandIn(
      zitadel,
      [
        organisation('9', {
          projects: [{ projectId: 'fresh', project: { name: 'Fresh' } }],
          apiApps: [application('late', 'fresh')],
        }),
      ],
      { onStarted: () => zitadel.contents.append('1', [taken]) },
    );
    expect(elsewhere.map(({ type, id }) => `${type} ${id}`)).toEqual(['api_app late']);
  });

  it('counts no record of a repeated request as created that exists elsewhere', async () => {
    const { zitadel } = await withOther({ recordsPerSecond: 1 });
    const { behaviour, contents } = zitadel;
    const people = Array.from({ length: 60 }, (_, index) => person(`p${index}`));
    const { summary, errors = [] } = await importIntoStandIn(
      zitadel,
      [organisation('9', { humanUsers: [...people, person('late')] })],
      {
        onStarted: () => {
          // Another caller creates the person when the owners are read already.
          contents.users.set('late', '1');
          contents.put('1', 'humanUsers', 'late', person('late'));
          contents.append('1', [{ aggregateType: 'user', aggregateId: 'late', type: 'user.human.added' }]);
          behaviour.recordsPerSecond = 1;
        },
      },
    );
    expect(summary.created).toEqual({ org: 1, humanUsers: 60 });
    expect(summary.failed).toEqual({ humanUsers: 1 });
    const taken = because('id_taken', { owner: `organisation ${ORGANISATION_1}`, holder: 'a person' });
    expect(errors).toEqual([foundError('human_user', 'late', taken)]);
  });

  it('reports records as not confirmed that the target neither created nor shows', async () => {
    const { zitadel } = await withOther();
    const dropped = { section: 'actions' };
    zitadel.behaviour.drops = ({ section }) => section === dropped.section;
    const actions = [{ actionId: 'gone', action: { name: 'gone', script: 'function gone() {}', timeout: '10s' } }];
    const { summary, errors } = await importIntoStandIn(zitadel, [organisation('9', { actions })], { polls: never });
    expect(summary).toMatchObject({ created: { org: 1 }, failed: {}, unconfirmed: { actions: 1 } });
    expect(errors).toEqual([foundError('action', 'gone', because('creation_unconfirmed', {}))]);
  });
});
