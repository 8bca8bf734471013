import { describe, expect, it } from 'vitest';
import { storeUnavailable } from '../../../shared/errors/storeErrors.ts';
import { survived } from '../../faults/support/survived.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { countedInstance, servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { hookedStore } from '../../support/stores/watchedStore.ts';

const A = person('U', { userName: 'a' });
const B = person('U', { userName: 'b' });
const twice = {
  type: 'human_user',
  id: 'U',
  reason: 'record_repeated',
  message: 'is in the file twice: only the first counts',
};
const existing = { type: 'human_user', id: 'U', message: 'ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting' };
const onConflict = ['report', 'skip', 'overwrite'];
const replacing = ['skip', 'overwrite'];
const fileOf = (on_conflict: string, sections: object) => ({
  data_orgs: { orgs: [organisation('O', sections)] },
  on_conflict,
});

describe('the second record of a file with the same id', () => {
  it.for(onConflict)(
    'is an error in the first import and in each repetition (on_conflict %s)',
    async (mode, context) => {
      const { instance, writesOf } = await countedInstance();
      const body = fileOf(mode, { humanUsers: [A, B] });
      const first = await instance.import(body);
      expect(first.errors).toEqual([existing]);
      expect(first.summary.warnings).toContainEqual(twice);
      const before = (await instance.export()).manifest.digest;
      for (const _repetition of [2, 3, 4]) {
        const { result, writes } = await writesOf(() => instance.import(body));
        expect({ errors: result.errors, writes }).toEqual({ errors: [existing], writes: 0 });
        expect(result.summary).toMatchObject({ unchanged: { org: 1, humanUsers: 1 }, failed: { humanUsers: 1 } });
      }
      const [org] = (await instance.export()).orgs;
      expect(org?.humanUsers).toMatchObject([{ user: { userName: 'a' } }]);
      expect((await instance.export()).manifest.digest).toBe(before);
      survived(context, 'repeated records', 'SQLite', 4);
    },
  );

  it.each(onConflict)('is an error in a dry run (on_conflict %s)', async (mode) => {
    const { instance } = await countedInstance();
    const { errors } = await instance.import({ ...fileOf(mode, { humanUsers: [A, B] }), dry_run: true });
    expect(errors).toEqual([existing]);
  });

  it('is an error if it equals the stored record, which an overwrite replaces by the first', async () => {
    const { instance } = await countedInstance();
    await instance.import(fileOf('report', { humanUsers: [B] }));
    const body = fileOf('overwrite', { humanUsers: [A, B] });
    for (const _repetition of [1, 2]) expect((await instance.import(body)).errors).toEqual([existing]);
    expect((await instance.export()).orgs[0]?.humanUsers).toMatchObject([{ user: { userName: 'a' } }]);
  });

  it.for(onConflict)(
    'is an error across batches, sections and organisations (on_conflict %s)',
    async (on_conflict, context) => {
      const { instance, writesOf } = await countedInstance();
      const people = Array.from({ length: 600 }, (_, index) => person(`P${index}`));
      const robot = { userId: 'U', user: { userName: 'robot', name: 'Robot' } };
      const orgs = [
        organisation('O', { humanUsers: [A, ...people, B], machineUsers: [robot] }),
        organisation('P', { humanUsers: [A] }),
      ];
      const body = { data_orgs: { orgs }, on_conflict };
      const { errors, summary } = await instance.import(body);
      const machine = {
        type: 'machine_user',
        id: 'U',
        message: 'ID=COMMAND-k2una Message=Errors.User.AlreadyExisting',
      };
      const expected = expect.arrayContaining([existing, existing, machine]);
      expect(errors).toEqual(expected);
      expect(summary.created).toEqual({ org: 2, humanUsers: 601 });
      const again = await writesOf(() => instance.import(body));
      expect({ errors: again.result.errors, writes: again.writes }).toEqual({ errors: expected, writes: 0 });
      survived(context, 'repeated records', 'SQLite', 2);
    },
  );

  it.each(onConflict)('is an error if only a credential differs (on_conflict %s)', async (mode) => {
    const { instance } = await countedInstance();
    const hashed = (value: string) => person('U', { hashedPassword: { value } });
    const body = fileOf(mode, { humanUsers: [hashed('$2a$10$one'), hashed('$2a$10$two')] });
    for (const _repetition of [1, 2]) expect((await instance.import(body)).errors).toEqual([existing]);
  });

  it('neither locks a user out nor lets a user in if the first was unchanged and lacks the state', async () => {
    const { instance } = await countedInstance();
    const robot = (state: object) => ({ userId: 'U', user: { userName: 'robot', name: 'Robot' }, ...state });
    const importing = (...machineUsers: object[]) => instance.import(fileOf('overwrite', { machineUsers }));
    await importing(robot({ state: 'USER_STATE_LOCKED' }));
    const { errors } = await importing(robot({}), robot({ state: 'USER_STATE_ACTIVE' }));
    expect(errors).toMatchObject([{ type: 'machine_user', id: 'U' }]);
    expect((await instance.export()).orgs[0]?.machineUsers).toMatchObject([{ state: 'USER_STATE_LOCKED' }]);
  });

  it.each(replacing)('is an error if the first fails (on_conflict %s)', async (mode) => {
    const { instance } = await countedInstance();
    const taken = person('V', { userName: 'a' });
    const body = fileOf(mode, { humanUsers: [taken, A, B] });
    for (const _repetition of [1, 2]) {
      const { errors, summary } = await instance.import(body);
      expect(errors?.map(({ id }) => id)).toEqual(['U', 'U']);
      expect(summary.failed).toEqual({ humanUsers: 2 });
    }
    expect((await instance.export()).orgs[0]?.humanUsers).toMatchObject([{ userId: 'V' }]);
  });

  it.each(replacing)('is an error in each import if it equals the first (on_conflict %s)', async (mode) => {
    const { instance, writesOf } = await countedInstance();
    const body = fileOf(mode, { humanUsers: [A, A] });
    for (const writes of [expect.any(Number), 0]) {
      const repeated = await writesOf(() => instance.import(body));
      expect({ errors: repeated.result.errors, writes: repeated.writes }).toEqual({ errors: [existing], writes });
      expect(repeated.result.summary.warnings).toContainEqual(twice);
    }
  });

  it('counts as unchanged with on_conflict report if it equals the record of an earlier import', async () => {
    const { instance, writesOf } = await countedInstance();
    const body = fileOf('report', { humanUsers: [A, A] });
    expect((await instance.import(body)).errors).toEqual([existing]);
    const { result, writes } = await writesOf(() => instance.import(body));
    expect({ errors: result.errors, writes, unchanged: result.summary.unchanged }).toEqual({
      errors: undefined,
      writes: 0,
      unchanged: { org: 1, humanUsers: 2 },
    });
  });

  it.each(onConflict)('is an error in an import that continues an interrupted one (on_conflict %s)', async (mode) => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    let commits = 0;
    const failing = hookedStore(store, async (writes) => {
      if (writes.some(({ key }) => key.collection === 'users') && ++commits === 2)
        throw storeUnavailable(new Error('injected'));
    });
    const people = Array.from({ length: 600 }, (_, index) => person(`P${index}`));
    const body = fileOf(mode, { humanUsers: [A, ...people, B] });
    const interrupted = servedInstance(store, instance, { store: failing });
    expect((await interrupted.refusedImport(body)).status).toBe(503);
    const { errors, summary } = await instance.import(body);
    expect(errors).toEqual([existing]);
    expect(summary.unchanged.humanUsers).toBeGreaterThan(0);
    expect((await instance.export()).orgs[0]?.humanUsers).toHaveLength(601);
  });

  it.each(onConflict)(
    'is an error if one of two user grants refers to the project grant and the other does not (on_conflict %s)',
    async (on_conflict) => {
      const { instance, writesOf } = await countedInstance();
      const project = { projectId: 'p', project: { name: 'Project' } };
      const roles = ['r', 's'].map((roleKey) => ({ projectId: 'p', roleKey, displayName: roleKey }));
      const projectGrant = { projectId: 'p', grantedOrgId: 'O', roleKeys: ['r', 's'] };
      const owner = organisation('P', {
        projects: [project],
        projectRoles: roles,
        projectGrants: [{ grantId: 'g', projectGrant }],
      });
      const grant = { userId: 'U', projectId: 'p' };
      const [given, filled] = [
        { ...grant, projectGrantId: 'g', roleKeys: ['r'] },
        { ...grant, roleKeys: ['s'] },
      ];
      const granted = organisation('O', { humanUsers: [A], userGrants: [given, filled] });
      const body = { data_orgs: { orgs: [owner, granted] }, on_conflict };
      expect((await instance.import(body)).errors).toMatchObject([{ type: 'user_grant', id: 'O_p_U' }]);
      const { result, writes } = await writesOf(() => instance.import(body));
      expect({ errors: result.errors, writes }).toMatchObject({ errors: [{ type: 'user_grant' }], writes: 0 });
      const found = (await instance.export()).orgs.find(({ orgId }) => orgId === 'O');
      expect(found?.userGrants).toMatchObject([{ roleKeys: ['r'] }]);
    },
  );

  it.each(onConflict)('makes a file match its manifest only if it is counted (on_conflict %s)', async (mode) => {
    const source = await testInstance(await openTestStore());
    await source.import(fileOf('report', { humanUsers: [A] }));
    const { orgs, manifest } = await source.export({ org_ids: ['O'] });
    const repeated = orgs.map((one) => ({ ...one, humanUsers: [A, B] }));
    const { instance, writesOf } = await countedInstance();
    const { result, writes } = await writesOf(() =>
      instance.refusedImport({ data_orgs: { orgs: repeated, manifest }, on_conflict: mode }),
    );
    expect(result).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('humanUsers: count mismatch') },
    });
    expect(writes).toBe(0);
  });
});
