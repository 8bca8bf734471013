import { describe, expect, it } from 'vitest';
import { storeUnavailable } from '../../../shared/errors/storeErrors.ts';
import { survived } from '../../faults/support/survived.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { countedInstance, servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { hookedStore } from '../../support/stores/watchedStore.ts';

const A = person('U', { userName: 'a' });
const B = person('U', { userName: 'b' });
const twice = { type: 'human_user', id: 'U', reason: 'record_repeated' };
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
      expect(first.reasons).toEqual([twice]);
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

  it.each(onConflict)('is an error in an import that continues an interrupted one (on_conflict %s)', async (mode) => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    let commits = 0;
    const failing = hookedStore(store, async (writes) => {
      if (writes.some(({ key }) => key.collection === 'users') && ++commits === 2)
        throw storeUnavailable({}, { cause: new Error('injected') });
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
