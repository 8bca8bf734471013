import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';

const overwriting = (...orgs: object[]) => ({ data_orgs: { orgs }, on_conflict: 'overwrite' });

const owners = z.array(z.looseObject({ userId: z.string(), user: z.looseObject({ userName: z.string() }) }));

describe("the caller's own user in a file", () => {
  it.each(['LOCKED', 'INACTIVE', 'SUSPEND'])(
    'cannot get the state %s, and no other field of it changes',
    async (state) => {
      const instance = await testInstance(await openTestStore());
      const [own] = (await instance.export({ org_ids: [instance.orgId], excluded_org_ids: [] })).orgs;
      const [owner] = owners.parse(own?.machineUsers);
      if (own === undefined || owner === undefined) throw new Error('no owner');
      const changed = (change: object) => ({ ...own, machineUsers: [{ ...owner, ...change }] });
      const { errors } = await instance.import(
        overwriting(changed({ user: { ...owner.user, name: 'other' }, state: `USER_STATE_${state}` })),
      );
      expect(errors).toEqual([
        { type: 'machine_user', id: owner.userId, message: 'ID=IMPORT-ownState Message=Errors.User.OwnState' },
      ]);
      const [after] = (await instance.export({ org_ids: [instance.orgId], excluded_org_ids: [] })).orgs;
      expect(after).toEqual(own);
      const { summary } = await instance.import(overwriting(changed({ user: { ...owner.user, name: 'other' } })));
      expect(summary.overwritten).toEqual({ machineUsers: 1 });
    },
  );
});
