import { describe, expect, it } from 'vitest';
import { removeOrganisations } from '../../cli/accounts/organisationRemoval.ts';
import { createServiceUser, deleteServiceUser } from '../../cli/accounts/serviceUsers.ts';
import { removeUserGrants } from '../../cli/accounts/userGrants.ts';
import { changeLock } from '../../cli/accounts/userLocks.ts';
import { importOrganisations } from '../../functions/import/operation.ts';
import { uniqueStamp } from '../../functions/import/stamp.ts';
import { changeRole } from '../../shared/accounts/memberships.ts';
import { issueToken, listTokens } from '../../shared/accounts/personalAccessTokens.ts';
import { enableOtpEmail } from '../../shared/accounts/userAccounts.ts';
import { deleteUser, stripUsers } from '../../shared/accounts/userRemoval.ts';
import { DAY_MS } from '../../shared/clock.ts';
import type { Manifest } from '../../shared/exportFile/manifest.ts';
import { sections } from '../../shared/organisation/allSections.ts';
import { userKey } from '../../shared/store/documentKeys.ts';
import { documentId, type Store } from '../../shared/store/store.ts';
import { Model } from '../machine/model.ts';
import { exportedOrganisations } from '../machine/modelFile.ts';
import { importFile } from '../machine/modelImport.ts';
import { inPieces } from '../support/fixtures/bytes.ts';
import { comparable } from '../support/fixtures/comparable.ts';
import { type Organisation, organisation } from '../support/fixtures/organisations.ts';
import { provedFile } from '../support/fixtures/provedFile.ts';
import { importReport, type TestInstance, testInstance } from '../support/instances/testInstance.ts';
import { repetitions } from '../support/repetitions.ts';
import { contentsOf, readDatabase } from '../support/stores/database.ts';
import { interruptedStore } from '../support/stores/interruptedStore.ts';
import { violationsOf } from '../support/stores/invariants.ts';
import { describeStores, openTestStore, type StoreKind, setUpOnce, sqlite } from '../support/stores/stores.ts';
import { hookedStore } from '../support/stores/watchedStore.ts';
import { organisationsOf } from './importRows.ts';

/** What differs from a usual request of an export of all sections and secrets. */
interface How {
  /** The fields of the manifest, or that there is none. */
  readonly manifest?: Partial<Manifest> | 'none';
  readonly request?: object;
  /** The selected organisations. */
  readonly orgIds?: readonly string[];
  /** What a dry run reports, if that is not the outcome. */
  readonly tried?: string;
  /** What the organisations have afterwards: by default, what the file has, or what is stored if nothing is deleted. */
  readonly after?: string;
  /** What a repetition reports: by default, that it deletes nothing. */
  readonly again?: string;
}

/** What is stored, the file, and what the import deletes, or why it keeps records or is refused. */
type Row = readonly [what: string, stored: string, file: string, outcome: string, how?: How];

const all =
  'a person ada; a person bob; a robot bot; a project p; a project q; a role q r; a api x q; a authorisation bob q - r; a member ada ORG_OWNER; a member bob ORG_OWNER; a metadata bob k eHh4; a machineKey key bot; a labelPolicy #000000';
const few = 'a person ada; a project p; a member ada ORG_OWNER';
const granted =
  'a project p; a role p r; a role p s; a grant g p b r s; b person bob; b person cy name; b authorisation bob p g r s';
const narrowed =
  'a project p; a role p r; a role p s; a grant g p b r; b person bob; b person eve name; b authorisation bob p - r';
const linked = 'a person ada; a oidc i; a loginPolicy i; a link ada i y';
const keyed = 'a person bob; a robot bot; a machineKey key bot; a labelPolicy #000000';
/** New records take the names of records that others require. */
const renamed = {
  before: `${granted}; a person ada x; a oidc i; a link ada i y; a robot bot rob; a machineKey key bot; a project q Q; a api z q; a appKey k z q; a action t T; a trigger 1 1 t`,
  after: `${narrowed}; a person new x; a oidc i; a link new i y; a robot newBot rob; a machineKey newKey newBot; a project n Q; a api newZ n; a appKey newK newZ n; a action u T; a trigger 1 1 u`,
};
const without = (name: string) => ({ sections: sections.map((section) => section.name).filter((one) => one !== name) });
const noKeys = { passwords: true, otp: true, keys: false };

const rows: readonly Row[] = [
  [
    'what the file lacks',
    all,
    few,
    'deletes human_user bob, machine_user bot, org_member a_bob, user_grant a_q_bob, api_app x, machine_user_key key, project_role q_r, project q, label_policy a, user_metadata bob_k',
  ],
  [
    'the holders of names that records of the file take, with what requires them',
    'a person bob name; a member bob ORG_OWNER; a project q Q; a api x q',
    'a person eve name; a project n Q',
    'deletes human_user bob, org_member a_bob, api_app x, project q',
  ],
  ['nothing that is equal', few, few, 'deletes nothing'],
  [
    'the holder of a name that a record of the file takes, although another requires it until it is written',
    'a project p name; a project q; a api x p',
    'a project n name; a project q; a api x q',
    'deletes project p',
  ],
  [
    'nothing of a section that the manifest does not list',
    keyed,
    'a robot bot; a machineKey key bot',
    'deletes human_user bob',
    { manifest: without('labelPolicy'), after: 'a robot bot; a machineKey key bot; a labelPolicy #000000' },
  ],
  [
    'no keys that the file does not have',
    keyed,
    'a robot bot',
    'deletes human_user bob, label_policy a',
    { manifest: { secrets: noKeys }, after: 'a robot bot; a machineKey key bot' },
  ],
  [
    'no keys that the request does not select',
    keyed,
    'a robot bot',
    'deletes human_user bob, label_policy a',
    { request: { with_keys: false }, after: 'a robot bot; a machineKey key bot' },
  ],
  [
    'what the file of a source lacks that does not state its secrets, such as ZITADEL',
    keyed,
    'a robot bot',
    'deletes human_user bob, machine_user_key key, label_policy a',
    { manifest: { secrets: undefined } },
  ],
  [
    'keys with their service user, without selecting keys',
    keyed,
    'a person bob',
    'deletes machine_user bot, machine_user_key key, label_policy a',
    { manifest: { secrets: noKeys }, request: { with_keys: false } },
  ],
  [
    'nothing of organisations that are not in the file, or not selected',
    'a person ada; a person bob; b person carl; b labelPolicy #000000; c person dan',
    'a person ada; b person carl',
    'deletes human_user bob',
    { orgIds: ['a'], after: 'a person ada; b person carl; b labelPolicy #000000; c person dan' },
  ],
  [
    'a provider with the policy and the link that refer to it',
    linked,
    'a person ada',
    'deletes oidc_idp i, login_policy a, user_link ada_i',
  ],
  ...['loginPolicy', 'userLinks'].map(
    (name): Row => [
      `no provider of a record of ${name}, which the manifest does not list`,
      linked,
      'a person ada',
      'keeps oidc_idp i deletion_referenced',
      { manifest: without(name) },
    ],
  ),
  [
    'nothing if a record of another organisation refers to it',
    `${all}; a grant g q b r; b authorisation bob q g r`,
    few,
    'keeps human_user bob deletion_referenced, project q deletion_referenced, project_grant a_q_b deletion_referenced, project_role q_r deletion_referenced',
  ],
  [
    'the holder of a name that passes on, whatever the order',
    'a person ada x; a person bob y; a person cy z',
    'a person ada y; a person bob z',
    'deletes human_user cy',
  ],
  [
    'nothing if people exchange names',
    'a person ada x; a person bob y',
    'a person ada y; a person bob x',
    'deletes nothing',
  ],
  [
    'a record that was created anew under its name: an action with a trigger',
    'a action t T; a action u U; a trigger 1 1 t',
    'a action n T; a action u U; a trigger 1 1 n',
    'deletes action t',
  ],
  [
    'a record that was created anew under its name: a person with a link to the same identity',
    'a person ada x; a oidc i; a link ada i y',
    'a person new x; a oidc i; a link new i y',
    'deletes human_user ada',
  ],
  [
    'a record that was created anew under its name: a service user with its key',
    'a robot bot x; a machineKey key bot',
    'a robot new x; a machineKey key new',
    'deletes machine_user bot',
  ],
  [
    'a record that was created anew under its name: a project with an application and its key',
    'a project p P; a api x p; a appKey key x p',
    'a project n P; a api x n; a appKey key x n',
    'deletes project p',
  ],
  [
    'a role that a project, its grant and user grants lose',
    `${granted}; a person ada; a authorisation ada p - r s; b grantMember p g bob PROJECT_GRANT_OWNER`,
    `${narrowed.replace('a role p s; ', '')}; a person ada; a authorisation ada p - r; b grantMember p g bob PROJECT_GRANT_OWNER`,
    'deletes human_user cy, project_role p_s',
  ],
  [
    'a role in another spelling, which a project grant and a user grant have',
    `${granted}; b grantMember p g bob PROJECT_GRANT_OWNER`,
    `${granted.replaceAll(' s', ' S')}; b grantMember p g bob PROJECT_GRANT_OWNER`,
    'deletes project_role p_s',
  ],
  [
    'the holder of a name while a project grant and a user grant lose a role',
    granted,
    narrowed,
    'deletes human_user cy',
  ],
  [
    'a user grant with a role that its project grant loses',
    'a project p; a role p r; a role p s; a grant g p b r s; b person bob; b authorisation bob p g s',
    'a project p; a role p r; a role p s; a grant g p b r; b person bob',
    'deletes user_grant b_p_bob',
  ],
  [
    'nothing if a record of the file fails, and overwrites the others',
    all,
    `${few}; a authorisation ada none - r; a labelPolicy #ffffff`,
    'keeps user_grant a_none_ada reference_missing',
    { after: all.replace('#000000', '#ffffff') },
  ],
  [
    'nothing if a record of the file fails, also for the names that others would take',
    all,
    `${few}; a authorisation ada none - r; a person eve bob`,
    'keeps human_user eve login_name_taken, user_grant a_none_ada reference_missing',
    { tried: 'keeps user_grant a_none_ada reference_missing' },
  ],
  [
    'nothing if a record of the file refers to a record that it lacks',
    all,
    `${few}; a member bob ORG_OWNER`,
    'keeps org_member a_bob reference_missing',
  ],
  ...Object.entries<How>({
    'refused INVALID without overwrite': { request: { on_conflict: 'report' } },
    'refused INVALID without max_deleted': { request: { max_deleted: undefined } },
    'refused MIRROR_DELETES_TOO_MUCH above max_deleted': { request: { max_deleted: 9 } },
    'refused MIRROR_OUTDATED for an older file': { manifest: { readTime: '2025-01-01T00:00:00.000Z' } },
    "refused MIRROR_OUTDATED for another instance's file": { manifest: { instanceId: 'other' } },
    'refused INVALID for a file that does not state its sections': { manifest: { sections: undefined } },
    'refused INVALID for a file of the future': { manifest: { readTime: '2999-01-01T00:00:00.000Z' } },
    'refused INVALID for an edited file': { manifest: { digest: `sha256:${'0'.repeat(64)}` } },
    'refused INVALID without a manifest, such as a file that ZITADEL wrote': { manifest: 'none' },
  }).map(([text, how]): Row => {
    const [, outcome = '', why = ''] = /^(\w+ \w+) (.*)$/.exec(text) ?? [];
    return [`nothing ${why}`, all, few, outcome, how];
  }),
];

type Own = (text: string) => string;

/** The organisations of a row, with names and states as exports have them. */
function fileOf(text: string, own: Own): Organisation[] {
  return organisationsOf(text, own).map((org) => ({ org: { name: org.orgId }, orgState: 'ORG_STATE_ACTIVE', ...org }));
}

/** An export of organisations that have exactly what a row describes. */
function exportOf(text: string, own: Own) {
  const model = new Model();
  const orgs = fileOf(text, own);
  importFile(model, orgs, { onConflict: 'report', withKeys: true });
  const contents = { withPasswords: true, withOtp: true, withKeys: true };
  const orgIds = orgs.map(({ orgId }) => orgId);
  return { orgIds, content: comparable(exportedOrganisations(model, orgIds, contents)) };
}

async function contentOf(instance: TestInstance, orgIds: readonly string[]) {
  return comparable((await instance.export({ org_ids: orgIds })).orgs);
}

const shown = (items: readonly string[], own: Own) => items.join(', ').replaceAll(own(''), '');

function deletionsText(deletions: readonly { readonly type: string; readonly id: string }[], own: Own): string {
  const texts = deletions.map(({ type, id }) => `${type} ${id}`);
  return `deletes ${shown(texts, own) || 'nothing'}`;
}

/** Summarises a response as a row does. */
function outcomeOf({ status, text }: { status: number; text: string }, own: Own): string {
  const body = JSON.parse(text);
  const { details = [] } = body;
  if (status !== 200) return `refused ${details.at(-1)?.reason ?? 'INVALID'}`.replace('INVALID_REQUEST', 'INVALID');
  const { reasons, summary, deletions = [] } = importReport.parse(body);
  const deleted = Object.values(summary.deleted ?? {}).reduce((sum, count) => sum + count, 0);
  expect(deleted).toBe(deletions.length);
  if (reasons.length === 0) return deletionsText(deletions, own);
  expect([deleted, summary.warnings.map(({ reason }) => reason)]).toEqual([
    0,
    expect.arrayContaining(['nothing_deleted']),
  ]);
  return `keeps ${shown(reasons.map(({ type, id, reason }) => `${type} ${id} ${reason}`).sort(), own)}`;
}

const mirroring = { on_conflict: 'overwrite', mirror: true, with_keys: true };
const plain: Own = (text) => text;

/** Mirrors a file as a command does, whose account is no user. */
function importDirectly(store: Store, file: object, settings: object) {
  const source = { open: () => inPieces(Buffer.from(JSON.stringify(file))) };
  const mirrored = { onConflict: 'overwrite', mirror: true, maxDeleted: 100, ...settings } as const;
  return importOrganisations(store, source, mirrored, uniqueStamp(new Date()), new AbortController().signal);
}

const changeOwner = (store: Store, userId: string, change: 'add' | 'remove') =>
  changeRole(store, { userId, orgId: undefined }, 'IAM_OWNER', change, new Date());
const lock = (store: Store, userId: string) => changeLock(store, userId, 'lock', new Date(), false);
const changeMember = (store: Store, own: Own, userId: string, role: string, change: 'add' | 'remove') =>
  changeRole(store, { userId: own(userId), orgId: own('a') }, role, change, new Date());

/** An instance, and its store. */
interface At {
  readonly store: Store;
  readonly instance: TestInstance;
}

async function importPlainly({ instance }: At, own: Own, manifest: How['manifest']): Promise<void> {
  const orgs = fileOf('a org a', own);
  const file = manifest === 'none' ? { orgs } : await provedFile(orgs, manifest);
  expect((await instance.import({ data_orgs: file })).errors).toBeUndefined();
}

/** What happens to an organisation that a mirror would undo, and whether an import of an older file leaves it unknown. */
const changes: readonly [what: string, change: (at: At, own: Own) => Promise<unknown>, isStale: boolean][] = [
  ['a user was locked', ({ store }, own) => lock(store, own('ada')), false],
  [
    'a user was locked and unlocked',
    async ({ store }, own) => {
      await lock(store, own('ada'));
      await changeLock(store, own('ada'), 'unlock', new Date(), false);
    },
    false,
  ],
  ['a user was created', ({ store }, own) => createServiceUser(store, own('new'), own('a'), new Date()), false],
  ['a user was deleted', ({ store }, own) => deleteServiceUser(store, own('bot')), false],
  ['a person was deleted', ({ store }, own) => deleteUser(store, own('bob')), false],
  [
    'a grant was removed',
    ({ store }, own) => removeUserGrants(store, { userId: own('bob'), projectId: own('q') }),
    true,
  ],
  ['a member was removed', ({ store }, own) => changeMember(store, own, 'bob', 'ORG_OWNER', 'remove'), true],
  ['an import without a manifest wrote', (at, own) => importPlainly(at, own, 'none'), true],
  ['an import of a future file wrote', (at, own) => importPlainly(at, own, { readTime: '2999-01-01T00:00:00Z' }), true],
  ['an import of another instance wrote', (at, own) => importPlainly(at, own, { instanceId: 'other' }), true],
];

const foreign =
  'x person xi; x project xp; x role xp xr; x grant xg xp a xr; y person yo; a person ada; a member yo ORG_OWNER; a member xi ORG_OWNER; a authorisation ada xp xg xr';
const never = new AbortController().signal;

/** Deletions that take records of the organisation a along, although it is not deleted. */
const foreignChanges: readonly [what: string, change: (at: At) => Promise<unknown>][] = [
  ['a user of another organisation', ({ store }) => deleteUser(store, 'xi')],
  ['another organisation, with the granted project', ({ store }) => removeOrganisations(store, ['x'], never)],
  ['another organisation, with a member', ({ store }) => removeOrganisations(store, ['y'], never)],
  [
    'a user whose interrupted deletion a mirror of another organisation ended',
    async ({ store, instance }) => {
      const killed = interruptedStore(store, { commit: 1, when: 'before' }, () => Promise.reject(new Error('killed')));
      await expect(deleteUser(killed, 'xi')).rejects.toThrow('killed');
      const own = foreign.split('; ').filter((record) => record.startsWith('x '));
      const data_orgs = await provedFile(fileOf(own.join('; '), plain));
      const replacing = { ...mirroring, max_deleted: 9, replace_changed: ['x'] };
      expect((await instance.import({ ...replacing, data_orgs })).errors).toBeUndefined();
    },
  ],
];
const laterFile = { readTime: '2026-03-02T03:04:05.000Z' };

/** Calls without the lock that change a record which a mirror is about to delete. */
const changed: readonly [what: string, change: (store: Store) => Promise<unknown>, kept: string][] = [
  [
    'a user gets a role in another organisation',
    (store) => changeRole(store, { userId: 'bob', orgId: 'b' }, 'ORG_OWNER', 'add', new Date()),
    'human_user bob',
  ],
  ['a user gets a role in the instance', (store) => changeOwner(store, 'bob', 'add'), 'human_user bob'],
  ['a user gets a token', (store) => issueToken(store, 'bot', new Date(), DAY_MS), 'machine_user bot'],
  ['a user is locked', (store) => lock(store, 'bob'), 'human_user bob'],
  ['a member gets a role', (store) => changeMember(store, plain, 'ada', 'ORG_USER_MANAGER', 'add'), 'org_member a_ada'],
];
/** Files, and the commits of their imports before which a call changes a record. */
const moments: readonly [file: string, commit: number][] = [
  ['a person ada; a project p; a project n', 1],
  ['a person ada; a project p; a project n; a person eve bob; a robot new bot', 0],
];

const ownOf = (index: number | string) => (text: string) => `${index}.${text}`;

/** Opens an instance with organisations of exports. */
async function openWith(kind: StoreKind, ...files: readonly (readonly [Organisation[], Partial<Manifest>])[]) {
  const store = await openTestStore(kind);
  const instance = await testInstance(store);
  for (const [orgs, manifest] of files) {
    const { errors } = await instance.import({ data_orgs: await provedFile(orgs, manifest), with_keys: true });
    expect(errors).toBeUndefined();
  }
  return { store, instance };
}

describeStores('an import that mirrors', (kind) => {
  // What is kept or refused is decided before anything is written, and what the request selects in the same way.
  const tried = rows.flatMap(([what, stored, text, outcome, how = {}], index) =>
    kind === sqlite || (outcome.startsWith('deletes') && Object.keys(how).length === 0)
      ? [{ what, stored, text, outcome, how, own: ownOf(index) }]
      : [],
  );
  const opened = setUpOnce(() => openWith(kind, [tried.flatMap(({ stored, own }) => fileOf(stored, own)), {}]));

  if (kind === sqlite) {
    it.each(tried)('deletes $what: [$stored] [$text] $outcome', async ({ stored, text, outcome, how, own }) => {
      const { instance } = opened();
      const { manifest = {}, orgIds = [], tried = outcome, again = 'deletes nothing' } = how;
      const orgs = fileOf(text, own);
      const request = {
        ...mirroring,
        data_orgs: manifest === 'none' ? { orgs } : await provedFile(orgs, manifest),
        org_ids: orgIds.map(own),
        max_deleted: outcome.startsWith('deletes') ? outcome.split(',').length : 100,
        ...how.request,
      };
      const before = exportOf(stored, own);
      const attempt = async (more: object = {}) =>
        outcomeOf(await instance.attempt('import', { ...request, ...more }), own);
      const dry = await attempt({ max_deleted: undefined, dry_run: true });
      if (!Object.hasOwn(how.request ?? {}, 'max_deleted')) expect(dry).toBe(tried);
      expect(await contentOf(instance, before.orgIds)).toEqual(before.content);
      expect(await attempt()).toBe(outcome);
      const isWritten = outcome.startsWith('deletes');
      const after = exportOf(how.after ?? (isWritten ? text : stored), own);
      expect(await contentOf(instance, after.orgIds)).toEqual(after.content);
      if (isWritten || how.again !== undefined) expect(await attempt()).toBe(again);
    });
  } else {
    // Only the deletions differ between stores; the trial and the repetition write nothing.
    it('deletes what the rows list, in an import of so many organisations that all are read at once', async () => {
      const { instance } = opened();
      const more = Array.from({ length: 21 }, (_, number) => organisation(`more${number}`));
      const data_orgs = await provedFile([...tried.flatMap(({ text, own }) => fileOf(text, own)), ...more]);
      const { errors, deletions = [] } = await instance.import({ ...mirroring, data_orgs, max_deleted: 100 });
      expect(errors).toBeUndefined();
      const rowsWithDeletions = tried.map(({ what, own }) => {
        const ofRow = deletions.filter(({ orgId }) => String(orgId).startsWith(own('')));
        return [what, deletionsText(ofRow, own)];
      });
      expect(rowsWithDeletions).toEqual(tried.map(({ what, outcome }) => [what, outcome]));
      const after = tried.map(({ text, own }) => exportOf(text, own));
      const orgIds = after.flatMap((row) => row.orgIds);
      expect(await contentOf(instance, orgIds)).toEqual(Object.assign({}, ...after.map(({ content }) => content)));
    });
  }

  it('leaves a sound database after all of these', async () => {
    expect(violationsOf(await readDatabase(opened().store))).toEqual([]);
  });

  it.each(changed)('keeps what a call changes before its deletion: %s', async (_, change, kept) => {
    for (const [text, commit] of kind === sqlite ? moments : moments.slice(0, 1)) {
      const store = await openTestStore(kind);
      await (await testInstance(store)).import({ data_orgs: await provedFile(fileOf(`${all}; b org b`, plain)) });
      let isChanged = false;
      const during = interruptedStore(store, { commit, when: 'before' }, async () => {
        await change(store);
        isChanged = true;
      });
      const { errors } = await importDirectly(during, await provedFile(fileOf(text, plain)), {});
      expect(isChanged).toBe(true);
      expect(errors?.map(({ type, id }) => `${type} ${id}`)).toContain(kept);
      const [user] = await store.getMany([userKey(kept.split(/[ _]/).at(-1) ?? '')], ['state']);
      expect(user && (user.state ?? 'USER_STATE_ACTIVE')).toMatch(/ACTIVE|LOCKED/);
      const other = { collection: 'projects', id: documentId('q') } as const;
      expect(await store.getMany([other], ['orgId']), 'other records stay').toMatchObject([{ orgId: 'a' }]);
      expect(violationsOf(await readDatabase(store))).toEqual([]);
    }
  });

  it('mirrors the file after a kill at any commit, also between deletions and the records that take the freed names', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    const freed: number[] = [];
    const step = kind === sqlite ? 1 : repetitions({ few: 3, many: 1 });
    for (let commit = 0, isKilled = true; isKilled; commit += step) {
      const own = ownOf(commit);
      const sent = await instance.import({ data_orgs: await provedFile(fileOf(renamed.before, own)), with_keys: true });
      expect(sent.errors).toBeUndefined();
      isKilled = false;
      let commits = 0;
      const killed = hookedStore(store, async () => {
        isKilled ||= commits++ === commit;
        if (isKilled) throw new Error('killed');
      });
      const file = await provedFile(fileOf(renamed.after, own));
      await importDirectly(killed, file, { withKeys: true }).catch((cause: unknown) => {
        if (!isKilled) throw cause;
      });
      const [found] = (await instance.export({ org_ids: [own('a')] })).orgs;
      if (isKilled && found?.apiApps === undefined && !JSON.stringify(found?.projects).includes(own('n')))
        freed.push(commit);
      const { errors } = await importDirectly(store, file, { withKeys: true });
      expect([commit, errors]).toEqual([commit, undefined]);
      expect(await contentOf(instance, [own('a'), own('b')])).toEqual(exportOf(renamed.after, own).content);
    }
    expect(freed).not.toEqual([]);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('restores a user who got a membership during a mirror that was killed', async () => {
    const store = await openTestStore(kind);
    await (await testInstance(store)).import({ data_orgs: await provedFile(fileOf(`${all}; b org b`, plain)) });
    let isMarked = false;
    const killed = hookedStore(store, async (writes) => {
      if (isMarked) throw new Error('killed');
      isMarked = writes.some(({ type, key }) => type === 'update' && key.id === 'bob');
      if (isMarked) await changeRole(store, { userId: 'bob', orgId: 'b' }, 'ORG_OWNER', 'add', new Date());
    });
    const file = await provedFile(fileOf(few, plain));
    await expect(importDirectly(killed, file, {})).rejects.toThrow('internal error');
    expect(await store.getMany([userKey('bob')], ['state'])).toMatchObject([{ state: 'USER_STATE_DELETED' }]);
    const { errors } = await importDirectly(store, file, {});
    expect(errors).toMatchObject([{ id: 'bob', reason: 'deletion_referenced' }]);
    expect(await store.getMany([userKey('bob')], ['state'])).toMatchObject([{ state: 'USER_STATE_ACTIVE' }]);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('lists only what it deleted if a call changes a record meanwhile', async () => {
    const store = await openTestStore(kind);
    await (await testInstance(store)).import({ data_orgs: await provedFile(fileOf(all, plain)) });
    let isChanged = false;
    const disturbed = hookedStore(store, async () => {
      if (!isChanged) {
        isChanged = true;
        await enableOtpEmail(store, 'bob', new Date());
      }
    });
    const { errors, deletions, summary } = await importDirectly(disturbed, await provedFile(fileOf(few, plain)), {});
    expect(errors).toMatchObject([{ id: 'bob', reason: 'deletion_of_changed' }]);
    const bot = { type: 'machine_user', orgId: 'a', id: 'bot', name: 'bot' };
    expect([deletions, summary.deleted, summary.deletionsOmitted]).toEqual([[bot], { machineUsers: 1 }, undefined]);
  });

  it('deletes a user whom a call had changed, after a mirror that was killed', async () => {
    const store = await openTestStore(kind);
    await (await testInstance(store)).import({ data_orgs: await provedFile(fileOf(all, plain)) });
    await enableOtpEmail(store, 'bob', new Date());
    let isMarked = false;
    const killed = hookedStore(store, async (writes) => {
      if (isMarked) throw new Error('killed');
      isMarked = writes.some(({ type, key }) => type === 'update' && key.id === 'bob');
    });
    const file = await provedFile(fileOf(few, plain));
    const settings = { replaceChanged: ['a'] };
    await expect(importDirectly(killed, file, settings)).rejects.toThrow('internal error');
    const { errors, summary } = await importDirectly(store, file, settings);
    expect([errors, summary.deleted?.humanUsers]).toEqual([undefined, 1]);
    expect(await store.getMany([userKey('bob')], ['state'])).toEqual([undefined]);
  });

  it('ends a deletion that was interrupted, and none if it is refused', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    const stored = await provedFile(fileOf(all, plain));
    await instance.import({ data_orgs: stored });
    const killed = interruptedStore(store, { commit: 1, when: 'before' }, () => Promise.reject(new Error('killed')));
    await expect(stripUsers(killed, new Map([['bob', 'a']]))).rejects.toThrow('killed');
    const before = contentsOf(await readDatabase(store), ['a']);
    const again = await instance.import({ data_orgs: stored });
    expect(again.reasons).toContainEqual({ type: 'human_user', id: 'bob', reason: 'id_in_deletion' });
    const request = { ...mirroring, data_orgs: await provedFile(fileOf(few, plain)) };
    expect((await instance.refusedImport({ ...request, max_deleted: 1 })).body).toMatchObject({ code: 9 });
    expect(contentsOf(await readDatabase(store), ['a'])).toEqual(before);
    const { errors, summary } = await instance.import({ ...request, max_deleted: 100 });
    expect([errors, summary.deleted?.userGrants]).toEqual([undefined, 1]);
    const { users, userGrants } = Object.fromEntries(await readDatabase(store));
    expect([users?.length, userGrants?.length]).toEqual([2, 0]);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('deletes the tokens and the instance role of a user', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    await instance.import({ data_orgs: await provedFile(fileOf('a robot bot', plain)) });
    const { tokenId } = await issueToken(store, 'bot', new Date(), DAY_MS);
    await changeOwner(store, 'bot', 'add');
    const request = { ...mirroring, data_orgs: await provedFile(fileOf('a org a', plain)) };
    expect((await instance.import({ ...request, dry_run: true })).deletions).toEqual([
      { type: 'machine_user', orgId: 'a', id: 'bot', name: 'bot' },
      { type: 'instance_member', orgId: 'a', id: 'bot', roles: ['IAM_OWNER'] },
      { type: 'token', orgId: 'a', id: `bot_${tokenId}` },
    ]);
    expect((await instance.refusedImport({ ...request, max_deleted: 2 })).body).toMatchObject({ code: 9 });
    const { errors, summary } = await instance.import({ ...request, max_deleted: 3 });
    expect([errors, summary.deleted]).toEqual([undefined, { machineUsers: 1, tokens: 1, instanceMembers: 1 }]);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
    expect(await listTokens(store, 'bot')).toEqual([]);
  });
});

describe('an import that mirrors', () => {
  const tried = changes.flatMap(([what, change, isStale], index) =>
    [false, ...(isStale ? [true] : [])].map((isOld) => ({ what, change, own: ownOf(`${isOld}${index}`), isOld })),
  );
  const opened = setUpOnce(() => openWith(sqlite, [tried.flatMap(({ own }) => fileOf(all, own)), laterFile]));

  it.each(tried)(
    'is refused for an organisation in which $what, unless it is named (older file: $isOld)',
    async ({ change, own, isOld }) => {
      const at = opened();
      const { instance } = at;
      await change(at, own);
      const old = await provedFile(fileOf(few, own));
      const newer = await provedFile(fileOf(few, own), laterFile);
      if (isOld) await instance.import({ data_orgs: old });
      const before = await contentOf(instance, [own('a')]);
      for (const data_orgs of [newer, ...(isOld ? [old] : [])])
        for (const more of [{ max_deleted: 100 }, { dry_run: true }])
          expect(outcomeOf(await instance.attempt('import', { ...mirroring, data_orgs, ...more }), own)).toMatch(
            isOld ? /MIRROR_OUTDATED/ : /MIRROR_(CHANGED|OUTDATED)/,
          );
      expect(await contentOf(instance, [own('a')])).toEqual(before);
      const request = { ...mirroring, max_deleted: 100 };
      const replacing = { ...request, data_orgs: isOld ? old : newer, replace_changed: [own('a')] };
      expect((await instance.import(replacing)).errors).toBeUndefined();
      expect(await contentOf(instance, [own('a')])).toEqual(exportOf(few, own).content);
      expect((await instance.import({ ...request, data_orgs: newer })).summary.deleted).toBeUndefined();
    },
  );

  it.each(foreignChanges)('is refused for an organisation that lost records with %s', async (_, change) => {
    const at = await openWith(sqlite, [fileOf(foreign, plain), {}]);
    const { instance } = at;
    const data_orgs = await provedFile(fileOf(foreign, plain));
    const attempt = async (orgIds: readonly string[]) =>
      await instance.attempt('import', { ...mirroring, max_deleted: 9, data_orgs, org_ids: orgIds });
    expect(outcomeOf(await attempt([]), plain)).toBe('deletes nothing');
    await change(at);
    // The deleted records return with an import that mirrors nothing; what they took along does not.
    await instance.import({ data_orgs, org_ids: ['x', 'y'] });
    const before = await contentOf(instance, ['a']);
    const { status, text } = await attempt(['a']);
    expect([status, text]).toEqual([400, expect.stringContaining('MIRROR_OUTDATED')]);
    expect(text).toContain('organisation a ');
    expect(await contentOf(instance, ['a'])).toEqual(before);
  });

  it('lists deletions with their names and roles', async () => {
    const instance = await testInstance(await openTestStore());
    const stored = 'a person bob Robert; a member bob ORG_OWNER';
    await instance.import({ data_orgs: await provedFile(fileOf(stored, plain)) });
    const file = await provedFile(fileOf('a org a', plain));
    expect((await instance.import({ ...mirroring, max_deleted: 2, data_orgs: file })).deletions).toEqual([
      { type: 'human_user', orgId: 'a', id: 'bob', name: 'Robert' },
      { type: 'org_member', orgId: 'a', id: 'a_bob', roles: ['ORG_OWNER'] },
    ]);
  });

  it('keeps the caller, and the last owner of the instance', async () => {
    const store = await openTestStore();
    const { orgId, userId, import: send, refusedImport } = await testInstance(store);
    const file = await provedFile([organisation(orgId)]);
    const named = { ...mirroring, max_deleted: 100, replace_changed: [orgId], data_orgs: file };
    expect((await refusedImport(named)).body).toMatchObject({ details: [{ reason: 'MIRROR_DEFAULT_ORGANISATION' }] });
    const { reasons, summary } = await send({ ...named, org_ids: [orgId] });
    expect(reasons).toEqual([
      { type: 'machine_user', id: userId, reason: 'deletion_of_caller' },
      { type: 'machine_user', id: userId, reason: 'deletion_of_owner' },
    ]);
    expect(summary.deleted).toBeUndefined();
    const direct = await importDirectly(store, file, { orgIds: [orgId], replaceChanged: [orgId] });
    expect(direct.errors?.map(({ reason }) => reason)).toEqual(['deletion_of_owner']);
    expect((await store.getMany([userKey(userId)]))[0]).toBeDefined();
    await send({ data_orgs: await provedFile(fileOf('a org a', plain)) });
    await changeOwner(store, await createServiceUser(store, 'another owner', 'a', new Date()), 'add');
    const again = await send({ ...named, org_ids: [orgId] });
    expect(again.reasons).toEqual([{ type: 'machine_user', id: userId, reason: 'deletion_of_caller' }]);
  });

  it('keeps an owner of the instance if the file suspends the other one', async () => {
    const store = await openTestStore();
    const { userId, import: send } = await testInstance(store);
    await send({ data_orgs: await provedFile(fileOf('a person ada; a person bob', plain)) });
    for (const owner of ['ada', 'bob']) await changeOwner(store, owner, 'add');
    await changeOwner(store, userId, 'remove');
    const file = await provedFile(fileOf('a person ada state=USER_STATE_INACTIVE', plain));
    for (const dryRun of [true, false]) {
      const { errors, summary } = await importDirectly(store, file, { dryRun });
      expect(errors).toMatchObject([{ id: 'bob', reason: 'deletion_of_owner' }]);
      expect(summary.deleted).toBeUndefined();
    }
    expect((await store.getMany([userKey('bob')], ['state']))[0]).toMatchObject({ state: 'USER_STATE_ACTIVE' });
  });

  it.each([
    ['mirrors', { mirror: true }],
    ['overwrites', { mirror: false }],
  ])(
    'keeps the last active owners of the instance active if the import %s a file that suspends them',
    async (_, how) => {
      const store = await openTestStore();
      const { userId, import: send } = await testInstance(store);
      await send({ data_orgs: await provedFile(fileOf('a person ada; a person bob', plain)) });
      for (const owner of ['ada', 'bob']) await changeOwner(store, owner, 'add');
      const suspending = 'a person ada state=USER_STATE_INACTIVE; a person bob Robert state=USER_STATE_LOCKED';
      const file = await provedFile(fileOf(suspending, plain));
      await changeOwner(store, userId, 'remove');
      for (const dryRun of [true, false]) {
        const { errors } = await importDirectly(store, file, { ...how, dryRun });
        expect(errors).toMatchObject(['ada', 'bob'].map((id) => ({ id, reason: 'owner_state_kept' })));
      }
      const states = () => store.getMany(['ada', 'bob'].map(userKey), ['state']);
      expect(await states()).toMatchObject([{ state: 'USER_STATE_ACTIVE' }, { state: 'USER_STATE_ACTIVE' }]);
      await changeOwner(store, userId, 'add');
      expect((await importDirectly(store, file, how)).errors).toBeUndefined();
      expect(await states()).toMatchObject([{ state: 'USER_STATE_INACTIVE' }, { state: 'USER_STATE_LOCKED' }]);
    },
  );

  it('keeps other organisations beside so many that all are read at once', async () => {
    const instance = await testInstance(await openTestStore());
    const many = await provedFile(Array.from({ length: 21 }, (_, number) => organisation(`m${number}`)));
    await instance.import({ data_orgs: await provedFile(fileOf('a person ada; a project p', plain)) });
    await instance.import({ data_orgs: many });
    const { errors, summary } = await instance.import({ ...mirroring, max_deleted: 100, data_orgs: many });
    expect([errors, summary.deleted]).toEqual([undefined, undefined]);
    expect((await instance.export({ org_ids: ['a'] })).manifest.counts).toMatchObject({ humanUsers: 1, projects: 1 });
  });
});
