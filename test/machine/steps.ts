import fc from 'fast-check';
import { expect } from 'vitest';
import { z } from 'zod';
import { comparable } from '../support/fixtures/comparable.ts';
import { besideSteps, exportBesideChanges } from './besideSteps.ts';
import { anyOrg, anyUser, firstFiles, organisationRoles, orgIds, userIds, userName } from './file.ts';
import { importStep, importSteps, named, reimportStep } from './importSteps.ts';
import { type ModelRecord, nameOf, placeOf, textAt, textsAt } from './kinds.ts';
import { mirrorAgainAfter, mirrorSteps } from './mirrorSteps.ts';
import { exportedOrganisations } from './modelFile.ts';
import { anyProtection, naming } from './protections.ts';
import { brief, type State, type Step, step } from './step.ts';
import type { Printed, System } from './system.ts';

const userId = z.object({ userId: z.string() });
const newToken = z.object({ tokenId: z.string(), token: z.string() });
const details = z.object({ details: z.object({ sequence: z.string(), resourceOwner: z.string() }) });
const LAST = 'the last service user';

/** Users by their id, or the last existing service user. */
const anyone = fc.oneof({ arbitrary: anyUser, weight: 1 }, { arbitrary: fc.constant(LAST), weight: 1 });

function idOf({ model }: State, user: string): string {
  if (user !== LAST) return user;
  const users = orgIds.flatMap((orgId) => model.users(orgId));
  const last = users.findLast(({ section }) => section === 'machineUsers');
  return last === undefined ? 'nobody' : textAt(last, 'userId');
}

/** Runs a command, and expects the success or failure that the model predicts. */
async function run(system: System, holds: boolean, ...[name, positionals, options]: Parameters<System['run']>) {
  const printed: Printed = await system.run(name, positionals, options);
  const outcome = 'error' in printed ? { fails: String(printed.error) } : 'succeeds';
  if (holds) expect(outcome).toBe('succeeds');
  else expect(outcome).not.toBe('succeeds');
  return 'json' in printed ? printed.json : undefined;
}

const enable = anyone.map((user) =>
  step(`otp-email enable ${user}`, async (state, system) => {
    const id = idOf(state, user);
    const stored = state.model.find('users', id);
    const can = stored?.section === 'humanUsers' && !stored.factor;
    await run(system, can, 'otp-email enable', [id]);
    if (can) state.model.change(`users ${id}`, stored, { factor: true });
  }),
);

const removal = fc.record({ caller: fc.constantFrom('owner', ...userIds), user: anyUser }).map(({ caller, user }) => {
  const tokenOf = ({ model }: State) => [...model.tokens.values()].findLast((token) => token.userId === caller);
  return step(
    `removal of ${user}'s factor by ${caller}`,
    async (state, system) => {
      const { model } = state;
      const stored = model.find('users', user);
      const token = caller === 'owner' ? system.instance.token : (tokenOf(state)?.secret ?? '');
      const expected = caller === 'owner' ? (stored?.factor === true ? 200 : 404) : model.removalStatus(caller, user);
      const { status, text } = await system.removeOtpEmail(token, user);
      expect(status, text).toBe(expected);
      if (status !== 200 || stored === undefined) return;
      model.change(`users ${user}`, stored, { factor: false });
      const changed = { sequence: String(stored.sequence + 1), resourceOwner: stored.orgId };
      expect(details.parse(JSON.parse(text)).details).toEqual(changed);
    },
    (state) => caller === 'owner' || tokenOf(state) !== undefined,
  );
});

const createToken = anyone.map((user) =>
  step(`pat create ${user}`, async (state, system) => {
    const id = idOf(state, user);
    const exists = state.model.has('users', id);
    const json = await run(system, exists, 'pat create', [], { user: id });
    if (!exists) return;
    const { tokenId, token } = newToken.parse(json);
    state.model.tokens.set(tokenId, { userId: id, secret: token });
  }),
);

const instanceRoles = ['IAM_OWNER', 'IAM_USER_MANAGER'];
const anyRole = fc.oneof(
  fc.record({ role: fc.constantFrom(...organisationRoles), org: fc.constantFrom(...orgIds) }),
  fc.record({ role: fc.constantFrom(...instanceRoles), org: fc.constant(undefined) }),
);

function rolesOf({ model }: State, id: string, org: string | undefined): readonly string[] {
  const member = model.find('members', 'organisation', org ?? '', id);
  return org === undefined
    ? (model.instanceRoles.get(id) ?? [])
    : member === undefined
      ? []
      : textsAt(member, 'roles[]');
}

function setRoles({ model }: State, id: string, orgId: string | undefined, roles: readonly string[]): void {
  const json = { userId: id, roles };
  const member = { section: 'orgMembers', orgId: orgId ?? '', json, secrets: {}, factor: false, sequence: 1 };
  if (orgId === undefined) model.instanceRoles.set(id, roles);
  else model.records.set(`members organisation ${orgId} ${id}`, member);
  if (roles.length > 0) return;
  if (orgId === undefined) model.instanceRoles.delete(id);
  else model.remove(`members organisation ${orgId} ${id}`);
}

const addMember = fc.record({ user: anyone, where: anyRole }).map(({ user, where: { role, org } }) =>
  step(
    `member add ${brief({ user, role, org })}`,
    async (state, system) => {
      const id = idOf(state, user);
      const can = state.model.has('users', id) && (org === undefined || state.model.has('organisations', org));
      await run(system, can, 'member add', [], { user: id, role, org });
      if (can) setRoles(state, id, org, [...rolesOf(state, id, org), role]);
    },
    (state) => !rolesOf(state, idOf(state, user), org).includes(role),
  ),
);

const removeMember = fc.record({ user: anyone, where: anyRole }).map(({ user, where: { role, org } }) =>
  step(`member remove ${brief({ user, role, org })}`, async (state, system) => {
    const id = idOf(state, user);
    const held = rolesOf(state, id, org);
    await run(system, held.includes(role), 'member remove', [], { user: id, role, org });
    if (held.includes(role))
      setRoles(
        state,
        id,
        org,
        held.filter((other) => other !== role),
      );
  }),
);

const createServiceUser = fc.record({ name: userName, org: anyOrg }).map(({ name, org }) =>
  step(`service-user create ${brief({ name, org })}`, async (state, system) => {
    const { model } = state;
    const json = { user: { userName: name, name }, state: 'USER_STATE_ACTIVE' };
    const record = { section: 'machineUsers', orgId: org, json, secrets: {}, factor: false, sequence: 1 };
    const isTaken = model.users().some((user) => nameOf(user, model) === nameOf(record, model));
    const can = model.has('organisations', org) && !isTaken;
    const created = await run(system, can, 'service-user create', [name], { org });
    if (!can) return;
    const id = userId.parse(created).userId;
    model.records.set(`users ${id}`, { ...record, json: { userId: id, ...json } });
    model.scopes.set(org, 'settled');
  }),
);

const deleteServiceUser = anyone.map((user) =>
  step(`service-user delete ${user}`, async (state, system) => {
    const id = idOf(state, user);
    const can = state.model.find('users', id)?.section === 'machineUsers';
    await run(system, can, 'service-user delete', [id]);
    if (can) state.model.deleteUser(id);
  }),
);

const deleteUser = anyone.map((user) =>
  step(`user delete ${user}`, async (state, system) => {
    const id = idOf(state, user);
    const can = state.model.has('users', id);
    await run(system, can, 'user delete', [id], { yes: true });
    if (can) state.model.deleteUser(id);
  }),
);

const removeUserGrant = fc.record({ user: anyUser, project: fc.constantFrom('pa', 'pb') }).map(({ user, project }) =>
  step(`user-grant remove ${brief({ user, project })}`, async ({ model }, system) => {
    const isRemoved = (one: ModelRecord) => textAt(one, 'userId') === user && textAt(one, 'projectId') === project;
    const grants = model.ofSection('userGrants').filter(isRemoved);
    await run(system, grants.length > 0, 'user-grant remove', [], { user, project, yes: true });
    for (const grant of grants) model.remove(placeOf(grant));
  }),
);

const deleteOrganisation = anyOrg.map((orgId) =>
  step(`org delete ${orgId}`, async ({ model }, system) => {
    await run(system, model.has('organisations', orgId), 'org delete', [orgId], { yes: true });
    model.deleteOrganisation(orgId);
  }),
);

const anySelection = fc.record({
  org_ids: fc.subarray(['a', 'b', 'c', 'unknown']),
  excluded_org_ids: fc.subarray(['b', 'c']),
  with_passwords: fc.boolean(),
  with_otp: fc.boolean(),
  with_keys: fc.boolean(),
});

const exportSome = anySelection.map((selection) =>
  step(`export ${brief(selection)}`, async ({ model }, system) => {
    const excluded = [...selection.excluded_org_ids, system.instance.orgId];
    const { orgs, manifest } = await system.instance.export({ ...selection, excluded_org_ids: excluded });
    const selected = orgIds.filter((id) => selection.org_ids.length === 0 || selection.org_ids.includes(id));
    const { with_passwords: withPasswords, with_otp: withOtp, with_keys: withKeys } = selection;
    const included = selected.filter((id) => !selection.excluded_org_ids.includes(id));
    const expected = exportedOrganisations(model, included, { withPasswords, withOtp, withKeys });
    expect(comparable(orgs)).toEqual(comparable(expected));
    const counts: Record<string, number> = { orgs: expected.length };
    for (const { orgId, orgState: _state, ...sections } of expected) {
      for (const [name, value] of Object.entries(sections)) {
        counts[name] = (counts[name] ?? 0) + (Array.isArray(value) ? value.length : 1);
      }
    }
    expect(manifest.counts).toEqual(expected.length === 0 ? {} : counts);
  }),
);

const protect = anyProtection.map(({ name, choose }) =>
  step(name, async ({ model }, system) => {
    const protection = choose(model);
    await naming(protection, async () => {
      const expected = protection.succeeds(model);
      expect(await protection.call(system)).toBe(expected);
      if (expected) protection.effect(model);
    });
  }),
);

/** Every step; imports occur about as often as all others together. */
export const anySteps: readonly fc.Arbitrary<Step>[] = [
  ...importSteps,
  ...mirrorSteps,
  mirrorAgainAfter(fc.oneof(deleteUser, deleteServiceUser, deleteOrganisation, removeMember, removeUserGrant)),
  enable,
  removal,
  removal,
  protect,
  protect,
  createToken,
  addMember,
  removeMember,
  createServiceUser,
  deleteServiceUser,
  deleteUser,
  removeUserGrant,
  removeUserGrant,
  deleteOrganisation,
  exportSome,
  ...besideSteps,
];

const overwriting = { onConflict: 'overwrite', withKeys: true } as const;

/** The first steps of each run. The random steps rarely fill an instance with records that refer to each other. */
export const firstSteps: readonly Step[] = [
  ...firstFiles.map((orgs) => {
    const sent = { orgs, options: overwriting };
    return importStep(named(sent), sent);
  }),
  exportBesideChanges,
];

/** The last step of each run: changes every kind of secret that the instance has then. */
export const lastStep: Step = reimportStep({ options: overwriting, dryRun: false, other: 'secrets' });
