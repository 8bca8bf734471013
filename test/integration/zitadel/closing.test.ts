import { describe, expect, it } from 'vitest';
import { warn } from '../../../shared/errors/warnings.ts';
import { type JsonObject, textAt } from '../../../shared/json/jsonObject.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import type { Release } from '../../support/zitadel/behaviour.ts';
import { importIntoStandIn } from '../../support/zitadel/connect.ts';
import type { Contents } from '../../support/zitadel/contents.ts';
import { people } from '../../support/zitadel/files.ts';
import { importsOf, startZitadel, type ZitadelStandIn } from '../../support/zitadel/standIn.ts';
import { zitadelOrganisations } from '../../tables/importRows.ts';

const HASH = '$2a$14$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
const bob = `person bob hash=${HASH} state=USER_STATE_LOCKED`;
const projects = ['project P', 'project Q state=PROJECT_STATE_INACTIVE'];
/** Records of each kind that can be closed, and open ones. */
const acme = [
  ...[`person ada hash=${HASH}`, bob, `person eve hash=${HASH} state=USER_STATE_INACTIVE`],
  `person sue hash=${HASH} state=USER_STATE_SUSPEND`,
  `person ini hash=${HASH} state=USER_STATE_INACTIVE user.email.isEmailVerified=none`,
  ...['robot on', 'robot off state=USER_STATE_INACTIVE', ...projects, 'role P admin'],
  ...['api A P state=APP_STATE_INACTIVE', 'api B P', 'web W P state=APP_STATE_INACTIVE'],
  ...['action X state=ACTION_STATE_INACTIVE', 'grant G P ünï admin state=PROJECT_GRANT_STATE_INACTIVE'],
  ...['authorisation ada P - admin state=USER_GRANT_STATE_INACTIVE', 'authorisation bob P - admin'],
];
const of = (orgId: string, records: readonly string[]) =>
  zitadelOrganisations(records.map((record) => `${orgId} ${record}`).join('; '));
/** The header of the organisation needs another form for this id. */
const closed = of('ünï', ['org state=INACTIVE', `person zoe hash=${HASH}`]);
const file = [...of('acme', acme), ...closed];

/** The records that the file has as closed, with the types of their errors. */
const toClose = [
  ['human_user', 'bob'],
  ['human_user', 'eve'],
  ['human_user', 'sue'],
  ['human_user', 'ini'],
  ['machine_user', 'off'],
  ['project', 'Q'],
  ['api_app', 'A'],
  ['oidc_app', 'W'],
  ['action', 'X'],
  ['project_grant', 'acme_P_ünï'],
  ['user_grant', 'acme_P_ada'],
  ['org', 'ünï'],
] as const;

const closedIds = ['eve', 'sue', 'off', 'Q', 'A', 'W', 'X', 'G', 'ada P', 'ünï'];
const closedStates = { bob: 'LOCKED', ...Object.fromEntries(closedIds.map((id) => [id, 'INACTIVE'])) };

/** Returns the closed records of a stand-in, with their states. */
function closedIn({ organisations }: Contents): Record<string, string> {
  const found: Record<string, string> = {};
  const note = (id: string, state: string) => {
    if (/_(?:INACTIVE|LOCKED)$/.test(state)) found[id] = state.replace(/^.*_STATE_/, '');
  };
  const idOf = (section: string, { userId, projectId, appId, actionId, grantId }: JsonObject) =>
    String(
      section === 'userGrants'
        ? `${String(userId)} ${String(projectId)}`
        : (userId ?? grantId ?? appId ?? actionId ?? projectId),
    );
  for (const { orgId, state, sections } of organisations.values()) {
    note(orgId, state);
    for (const [section, records] of sections)
      for (const { json } of records.values()) note(idOf(section, json), textAt(json, 'state', ''));
  }
  return found;
}

/** The calls that close records and that send some, in their order. */
const calls = ({ requests }: ZitadelStandIn) =>
  requests.flatMap(({ path, records }) => {
    const name = path.split('/').at(-1) ?? '';
    if (records !== undefined) return [`import ${records}`];
    return /^(?:deactivate|lock)/i.test(name) ? [name] : [];
  });

/** Another user changes a record. */
function change({ contents }: ZitadelStandIn, type: string, aggregateId: string, editorId: string): void {
  contents.append('acme', [{ aggregateType: 'user', aggregateId, type }], editorId);
}

/** A stand-in into which an interrupted import, or an earlier release of the command, has imported the file. */
async function leftOpen(release: Release = '2.71'): Promise<ZitadelStandIn> {
  const zitadel = await startZitadel({ lagMs: 0, release, closing: () => 'refused' });
  await importIntoStandIn(zitadel, file);
  zitadel.behaviour.closing = () => 'done';
  zitadel.requests.length = 0;
  return zitadel;
}

describe('an import into a ZITADEL of records that the file has as closed', () => {
  it.each<Release>(['2.71', '4.0'])('closes them, whatever the release imports: %s', async (release) => {
    const zitadel = await startZitadel({ lagMs: 0, release });
    const { errors, summary } = await importIntoStandIn(zitadel, file);
    expect(errors).toBeUndefined();
    expect(summary).toMatchObject({ created: { humanUsers: 6, machineUsers: 2, org: 2 }, failed: {} });
    // Release 2 makes an inactive person without a verified address initial, whom it does not deactivate.
    const initial = release === '2.71' ? 'LOCKED' : 'INACTIVE';
    expect(closedIn(zitadel.contents)).toEqual({ ...closedStates, ini: initial });
    expect(JSON.stringify(summary.warnings)).not.toMatch(/deactivate|must activate/);
    const again = await importIntoStandIn(zitadel, file);
    expect(again).not.toHaveProperty('errors');
    expect(again.summary).toMatchObject({ created: {}, failed: {}, unchanged: { humanUsers: 6, projects: 2, org: 2 } });
    expect(again.summary).not.toHaveProperty('overwritten');
  });

  it('closes users before the next request, and the organisation after all records', async () => {
    const zitadel = await startZitadel({ lagMs: 0, release: '2.71' });
    await importIntoStandIn(zitadel, [...closed, ...of('other', [bob, ...projects])]);
    expect(calls(zitadel)).toEqual([
      'import 0',
      'import 2',
      'LockUser',
      'import 2',
      'DeactivateProject',
      'DeactivateOrg',
    ]);
  });

  it.each([
    ['refused', { reason: 'open_refused', params: { error: expect.stringMatching(/AUTH-5mWD2/) } }],
    ['ignored', { reason: 'open_unconfirmed' }],
  ] as const)('names each that stays open in an error: %s', async (closing, issue) => {
    const zitadel = await startZitadel({ lagMs: 0, release: '2.71', closing: () => closing });
    const { errors = [], summary } = await importIntoStandIn(zitadel, file);
    expect(summary).toMatchObject({ created: { humanUsers: 6, machineUsers: 2, org: 2 }, failed: {} });
    expect(errors.map(({ type, id }) => [type, id]).toSorted()).toEqual(toClose.toSorted());
    for (const error of errors) expect(error).toMatchObject(issue);
    expect(closedIn(zitadel.contents)).toEqual({});
  });
});

describe('an import into a ZITADEL whose search passes over events', () => {
  const users = toClose.filter(([type]) => type.endsWith('user'));
  const polls = { attempts: () => 2, initialDelayMs: 1, maxDelayMs: 1 };

  it('closes the users again whom the search shows as open', async () => {
    let isReopened = false;
    const closing = (path: string) => {
      if (/(?:Reactivate|Unlock)User$/.test(path)) isReopened = true;
      return isReopened ? 'done' : 'passedOver';
    };
    const zitadel = await startZitadel({ lagMs: 0, release: '2.71', closing });
    const { errors } = await importIntoStandIn(zitadel, file, { polls });
    expect(errors).toBeUndefined();
    for (const [, id] of users) expect(zitadel.contents.passedOver.has(id), id).toBe(false);
    expect(closedIn(zitadel.contents)).toEqual({ ...closedStates, ini: 'INACTIVE' });
  });

  it('names them in errors if they stay open there', async () => {
    const zitadel = await startZitadel({ lagMs: 0, release: '2.71', closing: () => 'passedOver' });
    const { errors = [] } = await importIntoStandIn(zitadel, file, { polls });
    expect(errors.map(({ type, id }) => [type, id]).toSorted()).toEqual(users.toSorted());
    for (const { reason } of errors) expect(reason).toBe('open_in_search');
  });
});

describe('a repeated import into a ZITADEL', () => {
  it.each(['report', 'skip'] as const)('closes what an earlier one has left open, by %s', async (onConflict) => {
    const zitadel = await leftOpen();
    const dry = await importIntoStandIn(zitadel, file, { onConflict, dryRun: true });
    expect(calls(zitadel)).toEqual([]);
    const { errors, summary } = await importIntoStandIn(zitadel, file, { onConflict });
    expect(errors).toBeUndefined();
    const overwritten = { humanUsers: 4, machineUsers: 1, projects: 1, apiApps: 1, oidcApps: 1, actions: 1 };
    for (const found of [dry.summary, summary])
      expect(found).toMatchObject({
        created: {},
        overwritten: { ...overwritten, projectGrants: 1, userGrants: 1, org: 1 },
        failed: {},
      });
    expect(summary.warnings).toContainEqual({
      type: 'state',
      ...warn('records_closed', { records: '12 records', outcome: 'did so' }),
    });
    expect(closedIn(zitadel.contents)).toEqual({ ...closedStates, ini: 'LOCKED' });
    expect(importsOf(zitadel)).toEqual([]);
  });

  it('reads the events of many records by pages', async () => {
    const humanUsers = people(60).map((person) => ({ ...person, state: 'USER_STATE_LOCKED' }));
    const zitadel = await startZitadel({ lagMs: 0, release: '2.71', closing: () => 'refused' });
    await importIntoStandIn(zitadel, [organisation('acme', { humanUsers })]);
    zitadel.behaviour.closing = () => 'done';
    zitadel.requests.length = 0;
    change(zitadel, 'user.human.profile.changed', humanUsers[7]?.userId ?? '', 'admin');
    const { errors, summary } = await importIntoStandIn(zitadel, [organisation('acme', { humanUsers })]);
    expect(errors).toMatchObject([{ id: humanUsers[7]?.userId }]);
    expect(summary).toMatchObject({ overwritten: { humanUsers: 59 }, failed: { humanUsers: 1 } });
    expect(zitadel.requests.filter(({ path }) => path.endsWith('/ListEvents')).length).toBeLessThan(10);
  });

  it.each(['report', 'skip'] as const)(
    'leaves whom others have opened or changed, and names them, by %s',
    async (onConflict) => {
      const zitadel = await leftOpen();
      change(zitadel, 'user.deactivated', 'bob', 'admin');
      change(zitadel, 'user.reactivated', 'bob', 'admin');
      change(zitadel, 'user.human.profile.changed', 'eve', 'admin');
      // A sign-in is no change.
      change(zitadel, 'user.human.password.check.succeeded', 'sue', 'sue');
      const { errors, summary } = await importIntoStandIn(zitadel, file, { onConflict });
      const byAdmin = { user: 'admin', time: expect.any(String) };
      expect(errors).toEqual([
        {
          type: 'human_user',
          id: 'bob',
          message: expect.stringMatching(
            /^the record is locked in the source, but neither deactivated nor locked in the target; .* the record: event user\.reactivated by admin at /,
          ),
          reason: 'open_after_event',
          params: { ...byAdmin, state: 'USER_STATE_LOCKED', event: 'user.reactivated' },
        },
        {
          type: 'human_user',
          id: 'eve',
          message: expect.stringMatching(
            /^the record is inactive in the source, but neither .*user\.human\.profile\.changed by admin/,
          ),
          reason: 'open_after_event',
          params: { ...byAdmin, state: 'USER_STATE_INACTIVE', event: 'user.human.profile.changed' },
        },
      ]);
      expect(summary).toMatchObject({ overwritten: { humanUsers: 2 }, failed: { humanUsers: 2 } });
      expect(Object.keys(closedIn(zitadel.contents))).not.toEqual(expect.arrayContaining(['bob']));
      expect(Object.keys(closedIn(zitadel.contents))).not.toEqual(expect.arrayContaining(['eve']));
    },
  );

  it('leaves what another caller has imported', async () => {
    const zitadel = await leftOpen();
    for (const event of zitadel.contents.log.events) Object.assign(event, { editorId: 'another' });
    const { errors = [], summary } = await importIntoStandIn(zitadel, file);
    expect(errors.map(({ type, id }) => [type, id]).toSorted()).toEqual(toClose.toSorted());
    for (const { reason } of errors) expect(reason).toBe('open_foreign');
    expect(summary).not.toHaveProperty('overwritten');
    expect(closedIn(zitadel.contents)).toEqual({});
  });

  it('reports who is closed in the target and open in the file as another content', async () => {
    const zitadel = await startZitadel({ lagMs: 0, release: '2.71' });
    await importIntoStandIn(zitadel, [
      organisation('1', { humanUsers: people(1).map((one) => ({ ...one, state: 'USER_STATE_LOCKED' })) }),
    ]);
    const { errors } = await importIntoStandIn(zitadel, [organisation('1', { humanUsers: people(1) })]);
    expect(errors).toMatchObject([{ reason: 'content_kept', params: { fields: 'state' } }]);
  });
});
