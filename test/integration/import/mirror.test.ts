import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { ImportSettings } from '../../../functions/import/context.ts';
import { importOrganisations } from '../../../functions/import/operation.ts';
import { uniqueStamp } from '../../../functions/import/stamp.ts';
import { changeRole } from '../../../shared/accounts/memberships.ts';
import { issueToken, listTokens } from '../../../shared/accounts/personalAccessTokens.ts';
import { createServiceUser, deleteServiceUser } from '../../../shared/accounts/serviceUsers.ts';
import { changeLock } from '../../../shared/accounts/userLocks.ts';
import { stripUsers } from '../../../shared/accounts/userRemoval.ts';
import { userKey } from '../../../shared/auth/authorise.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { sections } from '../../../shared/organisation/allSections.ts';
import type { Collection, Store } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { provedFile } from '../../support/fixtures/provedFile.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { interruptedStore } from '../../support/stores/interruptedStore.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { describeStores, openTestStore } from '../../support/stores/stores.ts';

type Content = Readonly<Record<string, unknown>>;

const member = (userId: string) => ({ userId, roles: ['ORG_OWNER'] });
const project = (projectId: string, name: string) => ({ projectId, project: { name } });
const app = (appId: string, projectId: string) => ({ appId, app: { projectId, name: `app ${appId}` } });
const keyOf = (userId: string, keyId: string) => ({ userId, keyId, type: 'KEY_TYPE_JSON', publicKey: PUBLIC_KEY });
const PUBLIC_KEY = Buffer.from(
  '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n',
).toString('base64');

/** A person with its state, as exports have it. */
const active = (userId: string) => ({ ...person(userId), state: 'USER_STATE_ACTIVE' });

const everything: Content = {
  humanUsers: [active('ada'), person('bob')],
  machineUsers: [{ userId: 'robot', user: { userName: 'robot', name: 'robot' } }],
  projects: [project('p', 'P'), project('q', 'Q')],
  projectRoles: [{ projectId: 'q', roleKey: 'r' }],
  apiApps: [app('x', 'q')],
  userGrants: [{ userId: 'bob', projectId: 'q', roleKeys: ['r'] }],
  orgMembers: [member('ada'), member('bob')],
  userMetadata: [{ id: 'bob', key: 'k', value: 'dg==' }],
  machineKeys: [keyOf('robot', 'key')],
  labelPolicy: { primaryColor: '#000000' },
};
const few: Content = {
  humanUsers: [active('ada')],
  projects: [project('p', 'P')],
  orgMembers: [member('ada')],
};

const grant = (grantId: string, projectId: string, grantedOrgId: string) => ({
  grantId,
  projectGrant: { projectId, grantedOrgId, roleKeys: ['r'] },
});
const noKeys = { passwords: true, otp: true, keys: false };
const without = (name: string) => sections.map((section) => section.name).filter((other) => other !== name);

/** Creates a service user in an organisation of its own, who owns the instance. */
async function createOwner(store: Store, orgId: string): Promise<void> {
  const userId = await createServiceUser(store, 'another owner', orgId, new Date());
  await changeRole(store, { userId, orgId: undefined }, 'IAM_OWNER', 'add', new Date());
}

/** Counts the users and user grants that are stored, in any state. */
async function counted(store: Store) {
  await using snapshot = await store.snapshot();
  const count = async (collection: Collection) => {
    let documents = 0;
    for await (const batch of snapshot.scan({ collection })) documents += batch.length;
    return documents;
  };
  return { users: await count('users'), userGrants: await count('userGrants') };
}

function changeOwner(store: Store, userId: string, change: 'add' | 'remove'): Promise<void> {
  return changeRole(store, { userId, orgId: undefined }, 'IAM_OWNER', change, new Date());
}

/** Mirrors a file as a command does, whose account is no user. */
function importDirectly(store: Store, file: object, settings: ImportSettings) {
  const source = { open: () => Readable.from([Buffer.from(JSON.stringify(file))]) };
  const mirrored = { onConflict: 'overwrite', mirror: true, ...settings } as const;
  return importOrganisations(store, source, mirrored, uniqueStamp(new Date()), new AbortController().signal);
}

async function importFile(store: Store, file: object): Promise<void> {
  const open = () => Readable.from([Buffer.from(JSON.stringify(file))]);
  await importOrganisations(store, { open }, {}, uniqueStamp(new Date()), new AbortController().signal);
}

async function importPlainly(store: Store, manifest: object): Promise<void> {
  await importFile(store, await provedFile([organisation('o')], manifest));
}

function importUnproved(store: Store): Promise<void> {
  return importFile(store, { orgs: [organisation('o')] });
}

const mirroring = { on_conflict: 'overwrite', mirror: true, with_keys: true, max_deleted: 100 };

describeStores('an import that mirrors', (kind) => {
  async function filled(content: Content = everything, manifest: object = {}): Promise<TestInstance> {
    const instance = await testInstance(await openTestStore(kind));
    const { errors } = await instance.import({
      data_orgs: await provedFile([organisation('o', content)], manifest),
      with_keys: true,
    });
    expect(errors).toBeUndefined();
    return instance;
  }

  it('deletes what the file lacks, counts and names it, and changes nothing the second time', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    await instance.import({ data_orgs: await provedFile([organisation('o', everything)]), with_keys: true });
    const file = await provedFile([organisation('o', few)]);
    const before = await instance.export();
    const tried = await instance.attempt('import', {
      ...mirroring,
      max_deleted: undefined,
      dry_run: true,
      data_orgs: file,
    });
    const deleted = {
      humanUsers: 1,
      machineUsers: 1,
      projects: 1,
      projectRoles: 1,
      apiApps: 1,
      userGrants: 1,
      orgMembers: 1,
      userMetadata: 1,
      machineKeys: 1,
      labelPolicy: 1,
    };
    const foreseen = JSON.parse(tried.text);
    expect(foreseen.summary.deleted).toEqual(deleted);
    expect(foreseen.deletions.slice(0, 2)).toEqual([
      { type: 'human_user', orgId: 'o', id: 'bob', name: 'name of bob' },
      { type: 'machine_user', orgId: 'o', id: 'robot', name: 'robot' },
    ]);
    expect(foreseen.deletions).toHaveLength(10);
    expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
    const { errors, summary } = await instance.import({ ...mirroring, max_deleted: 10, data_orgs: file });
    expect(errors).toBeUndefined();
    expect(summary).toMatchObject({ deleted, unchanged: { org: 1, humanUsers: 1, projects: 1, orgMembers: 1 } });
    const after = await instance.export();
    expect(after.manifest.counts).toEqual({ orgs: 1, org: 1, humanUsers: 1, projects: 1, orgMembers: 1 });
    expect(violationsOf(await readDatabase(store))).toEqual([]);
    const again = await instance.import({ ...mirroring, max_deleted: 0, data_orgs: file });
    expect(again.summary.deleted).toBeUndefined();
    expect(again.summary).toMatchObject({
      created: {},
      unchanged: { org: 1, humanUsers: 1, projects: 1, orgMembers: 1 },
    });
  });

  it('gives the names of deleted records to those of the file, with the deletion in one commit', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    await instance.import({ data_orgs: await provedFile([organisation('o', everything)]), with_keys: true });
    const named = {
      ...few,
      humanUsers: [active('ada'), person('eve', { userName: 'name of bob' })],
      projects: [project('p', 'P'), project('n', 'Q')],
    };
    const { errors, summary } = await instance.import({
      ...mirroring,
      data_orgs: await provedFile([organisation('o', named)]),
    });
    expect(errors).toBeUndefined();
    expect(summary).toMatchObject({
      created: { humanUsers: 1, projects: 1 },
      deleted: { humanUsers: 1, projects: 1, apiApps: 1 },
    });
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  describe('is refused, and changes nothing,', () => {
    const refusals: readonly [why: string, request: object, expected: object, file?: object][] = [
      ['without overwrite', { on_conflict: 'report' }, { code: 3 }],
      ['without max_deleted', { max_deleted: undefined }, { code: 3 }],
      ['above max_deleted', { max_deleted: 9 }, { code: 9 }],
      ['for an older file', {}, { code: 9 }, { readTime: '2025-01-01T00:00:00.000Z' }],
      ["for another instance's file", {}, { code: 9 }, { instanceId: 'other' }],
      ['for a file that does not state its sections', {}, { code: 3 }, { sections: undefined }],
      ['for a file that does not state its secrets', {}, { code: 3 }, { secrets: undefined }],
      ['for a file of the future', {}, { code: 3 }, { readTime: '2999-01-01T00:00:00.000Z' }],
      ['for an edited file', {}, { code: 3 }, { digest: `sha256:${'0'.repeat(64)}` }],
    ];
    it.each(refusals)('%s', async (_, request, expected, manifest) => {
      const instance = await filled();
      const before = await instance.export();
      const file = await provedFile([organisation('o', few)], manifest);
      const { body } = await instance.refusedImport({ ...mirroring, ...request, data_orgs: file });
      expect(body).toMatchObject(expected);
      expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
    });

    it('also after a deletion that was interrupted', async () => {
      const store = await openTestStore(kind);
      const instance = await testInstance(store);
      await instance.import({ data_orgs: await provedFile([organisation('o', everything)]) });
      const killed = interruptedStore(store, { commit: 1, when: 'before' }, async () => {
        throw new Error('killed');
      });
      await expect(stripUsers(killed, new Map([['bob', 'o']]))).rejects.toThrow('killed');
      const before = await instance.export();
      const { users, userGrants } = await counted(store);
      const again = await instance.import({ data_orgs: await provedFile([organisation('o', everything)]) });
      expect(again.reasons).toContainEqual({ type: 'human_user', id: 'bob', reason: 'id_in_deletion' });
      const request = { ...mirroring, data_orgs: await provedFile([organisation('o', few)]) };
      expect((await instance.refusedImport({ ...request, max_deleted: 1 })).body).toMatchObject({ code: 9 });
      expect(await counted(store)).toEqual({ users, userGrants });
      expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
      const { errors, summary } = await instance.import(request);
      expect([errors, summary.deleted?.userGrants]).toEqual([undefined, 1]);
      expect(await counted(store)).toEqual({ users: users - 2, userGrants: userGrants - 1 });
      expect(violationsOf(await readDatabase(store))).toEqual([]);
    });

    it('for a file without a manifest, such as an export of ZITADEL', async () => {
      const remedy =
        'the file has no manifest, like every export of ZITADEL, so that nothing proves it complete: mirror only an export of an instance of this service';
      const instance = await filled();
      const { body } = await instance.refusedImport({ ...mirroring, data_orgs: { orgs: [organisation('o', few)] } });
      expect(body).toMatchObject({ code: 3, message: expect.stringContaining(remedy) });
    });
  });

  describe('deletes nothing, and names the record,', () => {
    it('if a record of another organisation refers to it', async () => {
      const instance = await filled();
      const granted = { ...everything, projectGrants: [grant('g', 'q', 'b')] };
      const user = { userGrants: [{ userId: 'bob', projectId: 'q', projectGrantId: 'g', roleKeys: ['r'] }] };
      await instance.import({
        data_orgs: await provedFile([organisation('o', granted), organisation('b', user)]),
        with_keys: true,
      });
      const before = await instance.export();
      const file = await provedFile([organisation('o', few)]);
      const { errors = [], summary } = await instance.import({ ...mirroring, data_orgs: file });
      expect(errors.map(({ type, id }) => `${type} ${id}`).sort()).toEqual([
        'human_user bob',
        'project q',
        'project_grant o_q_b',
        'project_role q_r',
      ]);
      expect(errors[0]?.message).toContain('IMPORT-mirrorKept');
      expect(summary.deleted).toBeUndefined();
      expect(summary.warnings.map(({ reason }) => reason)).toContain('nothing_deleted');
      expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
    });

    it('if it is the caller, or the last owner of the instance', async () => {
      const store = await openTestStore(kind);
      const { orgId, userId, import: send } = await testInstance(store);
      const file = await provedFile([organisation(orgId)]);
      const named = { ...mirroring, org_ids: [orgId], replace_changed: [orgId], data_orgs: file };
      const { reasons, summary } = await send(named);
      expect(reasons).toEqual([
        { type: 'machine_user', id: userId, reason: 'deletion_of_caller' },
        { type: 'machine_user', id: userId, reason: 'deletion_of_owner' },
      ]);
      expect(summary.deleted).toBeUndefined();
      // The account that runs a command is no user.
      const { errors } = await importDirectly(store, file, {
        maxDeleted: 9,
        orgIds: [orgId],
        replaceChanged: [orgId],
      });
      expect(errors?.map(({ reason }) => reason)).toEqual(['deletion_of_owner']);
      expect((await store.getMany([userKey(userId)]))[0]).toBeDefined();
      await send({ data_orgs: await provedFile([organisation('o')]) });
      await createOwner(store, 'o');
      const again = await send(named);
      expect(again.reasons).toEqual([{ type: 'machine_user', id: userId, reason: 'deletion_of_caller' }]);
    });

    it('if it is an owner of the instance, and the file suspends the other one', async () => {
      const store = await openTestStore(kind);
      const { userId, import: send } = await testInstance(store);
      await send({ data_orgs: await provedFile([organisation('o', everything)]) });
      for (const owner of ['ada', 'bob']) await changeOwner(store, owner, 'add');
      await changeOwner(store, userId, 'remove');
      const suspended = { ...few, humanUsers: [{ ...active('ada'), state: 'USER_STATE_INACTIVE' }] };
      const file = await provedFile([organisation('o', suspended)]);
      const tried = await importDirectly(store, file, { maxDeleted: 100, dryRun: true });
      const { errors, summary } = await importDirectly(store, file, { maxDeleted: 100 });
      const expected = [expect.objectContaining({ id: 'bob', reason: 'deletion_of_owner' })];
      expect([tried.errors, errors]).toEqual([expected, expected]);
      expect([tried.summary.deleted, summary.deleted]).toEqual([undefined, undefined]);
      const [bob] = await store.getMany([userKey('bob')], ['state']);
      expect(bob?.state).toBe('USER_STATE_ACTIVE');
      expect(violationsOf(await readDatabase(store))).toEqual([]);
    });

    it.each(['loginPolicy', 'userLinks'])('if it is a provider of %s, which the file does not state', async (name) => {
      const linked = {
        ...few,
        oidcIdps: [{ idpId: 'i', idp: { name: 'i', clientId: 'c', clientSecret: 's', issuer: 'https://i.example' } }],
        loginPolicy: { allowUsernamePassword: true, idps: [{ idpId: 'i', ownerType: 'IDP_OWNER_TYPE_ORG' }] },
        userLinks: [{ userId: 'ada', idpId: 'i', providedUserId: 'y', providedUserName: 'A' }],
      };
      const instance = await filled(linked);
      const file = await provedFile([organisation('o', few)], { sections: without(name) });
      const { reasons, summary } = await instance.import({ ...mirroring, data_orgs: file });
      expect(reasons).toMatchObject([{ type: 'oidc_idp', id: 'i', reason: 'deletion_referenced' }]);
      expect(summary.deleted).toBeUndefined();
      const all = await instance.import({ ...mirroring, data_orgs: await provedFile([organisation('o', few)]) });
      expect(all.summary.deleted).toEqual({ oidcIdps: 1, loginPolicy: 1, userLinks: 1 });
    });

    it('if a project grant would lose a role that an incomplete user grant has until later', async () => {
      const store = await openTestStore(kind);
      const instance = await testInstance(store);
      const granting = (roleKeys: readonly string[]) =>
        organisation('o', {
          projects: [project('p', 'P')],
          projectRoles: [
            { projectId: 'p', roleKey: 'r' },
            { projectId: 'p', roleKey: 's' },
          ],
          projectGrants: [{ grantId: 'g', projectGrant: { projectId: 'p', grantedOrgId: 'b', roleKeys } }],
        });
      const granted = (people: readonly object[], userGrant: object) =>
        organisation('b', {
          humanUsers: [active('bob'), ...people],
          userGrants: [{ userId: 'bob', projectId: 'p', ...userGrant }],
        });
      const through = { projectGrantId: 'g', roleKeys: ['r', 's'] };
      const before = [granting(['r', 's']), granted([active('cy')], through)];
      await instance.import({ data_orgs: await provedFile(before) });
      const namesake = { ...person('eve', { userName: 'name of cy' }), state: 'USER_STATE_ACTIVE' };
      const file = await provedFile([granting(['r']), granted([namesake], { roleKeys: ['r'] })]);
      const request = { ...mirroring, data_orgs: file };
      const tried = await instance.import({ ...request, max_deleted: undefined, dry_run: true });
      const { errors, summary } = await instance.import(request);
      expect(tried.errors?.map(({ type, id }) => `${type} ${id}`)).toEqual(['project_grant o_p_b']);
      expect(errors?.map(({ type, id }) => `${type} ${id}`)).toEqual(['human_user eve', 'project_grant o_p_b']);
      expect(summary.deleted).toBeUndefined();
      expect((await store.getMany([userKey('cy')]))[0]).toBeDefined();
      const again = await instance.import(request);
      expect([again.errors, again.summary.deleted]).toEqual([undefined, { humanUsers: 1 }]);
      expect(violationsOf(await readDatabase(store))).toEqual([]);
    });

    it('if another record of the file fails', async () => {
      const instance = await filled();
      const failing = { ...few, userGrants: [{ userId: 'ada', projectId: 'nowhere', roleKeys: [] }] };
      const file = await provedFile([organisation('o', { ...failing, labelPolicy: { primaryColor: '#ffffff' } })]);
      const { errors, summary } = await instance.import({ ...mirroring, data_orgs: file });
      expect(errors).toHaveLength(1);
      expect(summary.deleted).toBeUndefined();
      expect(summary.overwritten).toEqual({ labelPolicy: 1 });
      const { counts } = (await instance.export()).manifest;
      expect(counts).toMatchObject({ humanUsers: 2, machineUsers: 1, machineKeys: 1 });
      const without = { ...mirroring, dry_run: true, data_orgs: file };
      expect((await instance.import(without)).summary.deleted).toBeUndefined();
    });

    it('if a record of the file fails, also for the names that others would take', async () => {
      const instance = await filled();
      const named = { ...few, humanUsers: [active('ada'), person('eve', { userName: 'name of bob' })] };
      const failing = { ...named, userGrants: [{ userId: 'ada', projectId: 'nowhere', roleKeys: [] }] };
      const file = await provedFile([organisation('o', failing)]);
      const { summary } = await instance.import({ ...mirroring, data_orgs: file });
      expect(summary.deleted).toBeUndefined();
      expect((await instance.export()).manifest.counts).toMatchObject({
        humanUsers: 2,
        userMetadata: 1,
        orgMembers: 2,
      });
    });

    it('if a record of the file refers to a record that it lacks', async () => {
      const instance = await filled();
      const referring = { ...few, orgMembers: [member('ada'), member('bob')] };
      const file = await provedFile([organisation('o', referring)]);
      const { errors = [], summary } = await instance.import({ ...mirroring, data_orgs: file });
      expect(errors.map(({ id }) => id)).toEqual(['o_bob']);
      expect(summary.deleted).toBeUndefined();
    });
  });

  describe('keeps what a call without the lock changed before its deletion,', () => {
    const changes: readonly [what: string, change: (store: Store) => Promise<unknown>, kept: string][] = [
      [
        'a user with a new role elsewhere',
        (store) => changeRole(store, { userId: 'bob', orgId: 'b' }, 'ORG_OWNER', 'add', new Date()),
        'human_user bob',
      ],
      ['a user with a new instance role', (store) => changeOwner(store, 'bob', 'add'), 'human_user bob'],
      ['a user with a new token', (store) => issueToken(store, 'robot', new Date(), DAY_MS), 'machine_user robot'],
      ['a locked user', (store) => changeLock(store, 'bob', 'lock', new Date(), false), 'human_user bob'],
      [
        'a member with a new role',
        (store) => changeRole(store, { userId: 'ada', orgId: 'o' }, 'ORG_USER_MANAGER', 'add', new Date()),
        'org_member o_ada',
      ],
    ];
    const beside = { ...few, orgMembers: [], projects: [project('p', 'P'), project('n', 'N')] };
    const namesake = { ...beside, humanUsers: [active('ada'), person('eve', { userName: 'name of bob' })] };
    const moments: readonly [content: Content, commit: number][] = [
      [beside, 1],
      [namesake, 0],
    ];
    it.each(changes)('%s', async (_, change, kept) => {
      for (const [content, commit] of moments) {
        const store = await openTestStore(kind);
        const instance = await testInstance(store);
        await instance.import({ data_orgs: await provedFile([organisation('o', everything), organisation('b')]) });
        const events: string[] = [];
        const interrupted = interruptedStore(store, { commit, when: 'before' }, async () => {
          await change(store);
          events.push('changed');
        });
        const file = await provedFile([organisation('o', content)]);
        const { errors } = await importDirectly(interrupted, file, { maxDeleted: 100 });
        expect(events).toEqual(['changed']);
        expect(errors?.map(({ type, id }) => `${type} ${id}`)).toContain(kept);
        const [user] = await store.getMany([userKey(kept.split(/[ _]/).at(-1) ?? '')], ['state']);
        expect(user?.state ?? 'USER_STATE_ACTIVE').toMatch(/ACTIVE|LOCKED/);
        expect(user).toBeDefined();
        expect(violationsOf(await readDatabase(store))).toEqual([]);
      }
    });
  });

  describe('keeps', () => {
    const kept: readonly [what: string, manifest: object, request: object, counts: object][] = [
      ['what is in no section of the manifest', { sections: without('labelPolicy') }, {}, { labelPolicy: 1 }],
      ['keys that the file does not have', { secrets: noKeys }, {}, { machineKeys: 1, machineUsers: 1 }],
      ['keys that the request does not select', {}, { with_keys: false }, { machineKeys: 1, machineUsers: 1 }],
    ];
    it.each(kept)('%s', async (_, manifest, request, counts) => {
      const instance = await filled();
      const robots = { ...few, machineUsers: everything.machineUsers };
      const file = await provedFile([organisation('o', robots)], manifest);
      const { errors, summary } = await instance.import({ ...mirroring, ...request, data_orgs: file });
      expect(errors).toBeUndefined();
      expect(summary.deleted).toMatchObject({ humanUsers: 1 });
      expect((await instance.export()).manifest.counts).toMatchObject(counts);
    });

    it('organisations that the file does not have, or the request does not select', async () => {
      const instance = await filled();
      const other = { humanUsers: [person('carl')], labelPolicy: {} };
      await instance.import({ data_orgs: await provedFile([organisation('b', other), organisation('c')]) });
      await instance.import({ ...mirroring, data_orgs: await provedFile([organisation('o', few)]) });
      const selecting = {
        ...mirroring,
        org_ids: ['c'],
        data_orgs: await provedFile([organisation('c'), organisation('b')]),
      };
      expect((await instance.import(selecting)).summary.deleted).toBeUndefined();
      expect((await instance.export({ org_ids: ['b'] })).manifest.counts).toMatchObject({
        humanUsers: 1,
        labelPolicy: 1,
      });
    });
  });

  it('keeps other organisations beside so many that all are read at once', async () => {
    const instance = await filled();
    const many = Array.from({ length: 21 }, (_, number) => organisation(`m${number}`));
    await instance.import({ data_orgs: await provedFile(many) });
    const { errors, summary } = await instance.import({ ...mirroring, data_orgs: await provedFile(many) });
    expect([errors, summary.deleted]).toEqual([undefined, undefined]);
    expect((await instance.export({ org_ids: ['o'] })).manifest.counts).toMatchObject({ humanUsers: 2, projects: 2 });
  });

  it('deletes keys with their service user, also without selecting keys', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    await instance.import({ data_orgs: await provedFile([organisation('o', everything)]), with_keys: true });
    const file = await provedFile([organisation('o', few)], { secrets: noKeys });
    const { errors, summary } = await instance.import({ ...mirroring, with_keys: false, data_orgs: file });
    expect(errors).toBeUndefined();
    expect(summary.deleted).toMatchObject({ machineUsers: 1, machineKeys: 1 });
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('deletes the tokens and the instance role of a user', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    await instance.import({ data_orgs: await provedFile([organisation('o', everything)]) });
    await issueToken(store, 'robot', new Date(), DAY_MS);
    await changeRole(store, { userId: 'robot', orgId: undefined }, 'IAM_OWNER', 'add', new Date());
    const { errors } = await instance.import({ ...mirroring, data_orgs: await provedFile([organisation('o', few)]) });
    expect(errors).toBeUndefined();
    expect(violationsOf(await readDatabase(store))).toEqual([]);
    expect(await listTokens(store, 'robot')).toEqual([]);
  });

  describe('is refused for an organisation', () => {
    const changes: readonly [how: string, change: (store: Store) => Promise<unknown>][] = [
      ['with a user who was locked here', (store) => changeLock(store, 'ada', 'lock', new Date(), false)],
      ['with a user who was created here', (store) => createServiceUser(store, 'new', 'o', new Date())],
      ['whose user was deleted here', (store) => deleteServiceUser(store, 'robot')],
      [
        'whose member was removed here',
        (store) => changeRole(store, { userId: 'ada', orgId: 'o' }, 'ORG_OWNER', 'remove', new Date()),
      ],
      ['that an import without a manifest changed', (store) => importUnproved(store)],
    ];
    it.each(changes)('%s, unless it is named', async (_, change) => {
      const store = await openTestStore(kind);
      const instance = await testInstance(store);
      await instance.import({ data_orgs: await provedFile([organisation('o', everything)]) });
      await change(store);
      const before = await instance.export();
      const request = { ...mirroring, data_orgs: await provedFile([organisation('o', few)]) };
      expect((await instance.refusedImport(request)).body).toMatchObject({ code: 9 });
      expect((await instance.refusedImport({ ...request, max_deleted: undefined, dry_run: true })).body).toMatchObject({
        code: 9,
      });
      expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
      const { errors } = await instance.import({ ...request, replace_changed: ['o'] });
      expect(errors).toBeUndefined();
      const { counts } = (await instance.export()).manifest;
      expect(counts).toEqual({ orgs: 1, org: 1, humanUsers: 1, projects: 1, orgMembers: 1 });
      expect((await instance.import(request)).summary.deleted).toBeUndefined();
    });

    const stale: readonly [after: string, change: (store: Store) => Promise<unknown>][] = [
      [
        'whose member was removed here',
        async (store) => {
          await changeRole(store, { userId: 'bob', orgId: 'o' }, 'ORG_USER_MANAGER', 'add', new Date());
          for (const role of ['ORG_OWNER', 'ORG_USER_MANAGER'])
            await changeRole(store, { userId: 'bob', orgId: 'o' }, role, 'remove', new Date());
        },
      ],
      ['that an import without a manifest changed', importUnproved],
      [
        'that an import of a future file changed',
        (store) => importPlainly(store, { readTime: '2999-01-01T00:00:00.000Z' }),
      ],
      ['that has records of another instance', (store) => importPlainly(store, { instanceId: 'other' })],
    ];
    it.each(stale)('%s, also after an older file, until it is named', async (_, change) => {
      const store = await openTestStore(kind);
      const instance = await testInstance(store);
      const later = { readTime: '2026-03-02T03:04:05.000Z' };
      await instance.import({ data_orgs: await provedFile([organisation('o', everything)], later) });
      await change(store);
      const old = await provedFile([organisation('o', few)]);
      await instance.import({ data_orgs: old });
      const request = { ...mirroring, data_orgs: old };
      expect((await instance.refusedImport(request)).body).toMatchObject({
        code: 9,
        message: expect.stringContaining('records were removed since'),
      });
      const newer = { ...mirroring, data_orgs: await provedFile([organisation('o', few)], later) };
      expect((await instance.refusedImport(newer)).body).toMatchObject({ code: 9 });
      expect((await instance.import({ ...request, replace_changed: ['o'] })).errors).toBeUndefined();
      expect((await instance.import(newer)).summary.deleted).toBeUndefined();
    });

    it('that is the default one, unless it is named', async () => {
      const store = await openTestStore(kind);
      const instance = await testInstance(store);
      const request = { ...mirroring, data_orgs: await provedFile([organisation(instance.orgId)]) };
      const { body } = await instance.refusedImport({ ...request, replace_changed: [instance.orgId] });
      expect(body).toMatchObject({ code: 9, message: expect.stringContaining('default organisation') });
    });
  });
});
