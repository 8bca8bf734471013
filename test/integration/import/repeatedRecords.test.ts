import { describe, expect, it } from 'vitest';
import { survived } from '../../faults/support/survived.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { provedFile } from '../../support/fixtures/provedFile.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';

const A = person('U', { userName: 'a' });
const B = person('U', { userName: 'b' });
const existing = { type: 'human_user', id: 'U', message: 'ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting' };
const onConflict = ['report', 'skip', 'overwrite'];

describe('the second record of a file with the same id', () => {
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
});

describe('a file that names one record in two ways', () => {
  const names = ['FLOW_TYPE_EXTERNAL_AUTHENTICATION', 'TRIGGER_TYPE_POST_AUTHENTICATION'];
  const grant = { userId: 'U', projectId: 'P', roleKeys: ['a'] };
  const unknownProjectGrant = { userId: 'U', projectId: 'P', projectGrantId: 'none', roleKeys: ['b'] };
  const trigger = { flowType: '1', triggerType: '1', actionIds: ['A'] };
  const namedTrigger = { flowType: names[0], triggerType: names[1], actionIds: ['B'] };
  const content = {
    projects: [{ projectId: 'P', project: { name: 'P' } }],
    projectRoles: ['a', 'b'].map((roleKey) => ({ projectId: 'P', roleKey, displayName: roleKey })),
    humanUsers: [A],
    actions: ['A', 'B'].map((actionId) => ({ actionId, action: { name: actionId, script: 'x' } })),
  };
  const fileOf = (repeated: object) => provedFile([organisation('O', { ...content, ...repeated })]);
  const files = [
    ['userGrants', grant, unknownProjectGrant],
    ['triggerActions', trigger, namedTrigger],
  ] as const;
  const mirroring = { on_conflict: 'overwrite', mirror: true, max_deleted: 0 };
  const modes = [...onConflict.map((on_conflict) => ({ on_conflict, mirror: false })), mirroring];
  const cases = files.flatMap(([section, one, other]) => modes.map((mode) => ({ section, one, other, mode })));

  it.for(cases)(
    'has the same errors when it is imported again ($section, $mode.on_conflict, mirror $mode.mirror)',
    async ({ section, one, other, mode }) => {
      const { instance, writesOf } = await countedInstance();
      const file = await fileOf({ [section]: [one, other] });
      const importing = () => writesOf(() => instance.import({ data_orgs: file, ...mode }));
      const first = await importing();
      expect(first.result).toMatchObject({ errors: [{}], summary: { created: { [section]: 1 } } });
      const again = await importing();
      expect(again).toMatchObject({ writes: 0, result: { errors: first.result.errors } });
    },
  );

  it.for(files)('stores the first if the second is stored (%s)', async ([section, one, other]) => {
    const { instance } = await countedInstance();
    const importing = async (records: readonly object[]) =>
      instance.import({ data_orgs: await fileOf({ [section]: records }), on_conflict: 'overwrite' });
    await importing([one]);
    const expected = { errors: [{}], summary: { overwritten: { [section]: 1 } } };
    expect(await importing([other, one])).toMatchObject(expected);
  });
});
