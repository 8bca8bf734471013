import { describe, expect, it } from 'vitest';
import { survived } from '../../faults/support/survived.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';

const A = person('U', { userName: 'a' });
const B = person('U', { userName: 'b' });
const twice = { type: 'human_user', id: 'U', message: 'is in the file twice: only the first counts' };
const existing = { type: 'human_user', id: 'U', message: 'ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting' };

describe('two records of a file with one key', () => {
  it.for(['report', 'skip', 'overwrite'])(
    'settle on the first, with the same report each time (on_conflict %s)',
    async (on_conflict, context) => {
      const { instance, writesOf } = await countedInstance();
      const body = { data_orgs: { orgs: [organisation('O', { humanUsers: [A, B] })] }, on_conflict };
      expect((await instance.import(body)).errors).toEqual([existing]);
      const before = (await instance.export()).manifest.digest;
      for (const _repetition of [2, 3, 4]) {
        const { result, writes } = await writesOf(() => instance.import(body));
        expect({ errors: result.errors, writes }).toEqual({ errors: [existing], writes: 0 });
        expect(result.summary).toMatchObject({ unchanged: { org: 1, humanUsers: 1 }, failed: { humanUsers: 1 } });
        expect(result.summary.warnings).toContainEqual(twice);
      }
      const [org] = (await instance.export()).orgs;
      expect(org?.humanUsers).toMatchObject([{ user: { userName: 'a' } }]);
      expect((await instance.export()).manifest.digest).toBe(before);
      survived(context, 'repeated records', 'SQLite', 4);
    },
  );

  it('settle on the first also where the second is the stored one', async () => {
    const { instance } = await countedInstance();
    await instance.import({ data_orgs: { orgs: [organisation('O', { humanUsers: [B] })] } });
    const body = { data_orgs: { orgs: [organisation('O', { humanUsers: [A, B] })] }, on_conflict: 'overwrite' };
    for (const _repetition of [1, 2]) expect((await instance.import(body)).errors).toEqual([existing]);
    expect((await instance.export()).orgs[0]?.humanUsers).toMatchObject([{ user: { userName: 'a' } }]);
  });

  it('settle on the first across batches, sections and organisations', async (context) => {
    const { instance, writesOf } = await countedInstance();
    const people = Array.from({ length: 600 }, (_, index) => person(`P${index}`));
    const robot = { userId: 'U', user: { userName: 'robot', name: 'Robot' } };
    const orgs = [
      organisation('O', { humanUsers: [A, ...people, B], machineUsers: [robot] }),
      organisation('P', { humanUsers: [A] }),
    ];
    const body = { data_orgs: { orgs }, on_conflict: 'overwrite' };
    const { errors, summary } = await instance.import(body);
    const machine = { type: 'machine_user', id: 'U', message: 'ID=COMMAND-k2una Message=Errors.User.AlreadyExisting' };
    const expected = expect.arrayContaining([existing, existing, machine]);
    expect(errors).toEqual(expected);
    expect(summary.created).toEqual({ org: 2, humanUsers: 601 });
    const again = await writesOf(() => instance.import(body));
    expect({ errors: again.result.errors, writes: again.writes }).toEqual({ errors: expected, writes: 0 });
    survived(context, 'repeated records', 'SQLite', 2);
  });

  it('differ by a credential too', async () => {
    const { instance } = await countedInstance();
    const hashed = (value: string) => person('U', { hashedPassword: { value } });
    const humanUsers = [hashed('$2a$10$one'), hashed('$2a$10$two')];
    const body = { data_orgs: { orgs: [organisation('O', { humanUsers })] }, on_conflict: 'overwrite' };
    for (const _repetition of [1, 2]) expect((await instance.import(body)).errors).toEqual([existing]);
  });

  it('differ by a state that one of them lacks too, so that the second locks nobody out and lets nobody in', async () => {
    const { instance } = await countedInstance();
    const robot = (state: object) => ({ userId: 'U', user: { userName: 'robot', name: 'Robot' }, ...state });
    const importing = (...machineUsers: object[]) =>
      instance.import({ data_orgs: { orgs: [organisation('O', { machineUsers })] }, on_conflict: 'overwrite' });
    await importing(robot({ state: 'USER_STATE_LOCKED' }));
    const { errors } = await importing(robot({}), robot({ state: 'USER_STATE_ACTIVE' }));
    expect(errors).toMatchObject([{ type: 'machine_user', id: 'U' }]);
    expect((await instance.export()).orgs[0]?.machineUsers).toMatchObject([{ state: 'USER_STATE_LOCKED' }]);
  });

  it('are no error after the first import where they are equal', async () => {
    const { instance, writesOf } = await countedInstance();
    const body = { data_orgs: { orgs: [organisation('O', { humanUsers: [A, A] })] }, on_conflict: 'overwrite' };
    expect((await instance.import(body)).summary.warnings).toContainEqual(twice);
    const { result, writes } = await writesOf(() => instance.import(body));
    expect({ errors: result.errors, writes, unchanged: result.summary.unchanged }).toEqual({
      errors: undefined,
      writes: 0,
      unchanged: { org: 1, humanUsers: 2 },
    });
  });
});
