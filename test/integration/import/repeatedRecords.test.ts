import { describe, expect, it } from 'vitest';
import { survived } from '../../faults/support/survived.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
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
