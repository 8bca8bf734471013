import { describe, expect, it } from 'vitest';
import { organisation, person, unproved } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';

const marks = '\u0323\u0301'.repeat(50_000);
const tooLong = (path: string, limit: number) =>
  `ID=IMPORT-tooLong Message=${path}: value length must be at most ${limit} bytes`;

describe('texts above their limits', () => {
  it('are errors of their records, and the others are imported', async () => {
    const instance = await testInstance(await openTestStore());
    const org = organisation('o', {
      humanUsers: [
        person('p'),
        person('q', { otpCode: 'A'.repeat(64_001) }),
        person('r'.repeat(2_601), { userName: 'r' }),
      ],
      domains: [{ domainName: marks, isVerified: true }],
    });
    const { errors, summary } = await instance.import({ data_orgs: { orgs: [org] } });
    expect(errors).toMatchObject([
      {
        type: 'domain',
        id: `o_${marks.slice(0, 3_998)}...`,
        message: tooLong('domainName', 2_600),
      },
      { type: 'human_user', id: 'q', message: tooLong('user.otpCode', 64_000) },
      { type: 'human_user', id: 'r'.repeat(2_601), message: tooLong('userId', 2_600) },
    ]);
    expect(summary.created).toEqual({ org: 1, humanUsers: 1 });
  });

  it('are accepted as ids of people of more than 200 characters, as in a ZITADEL, with a warning that no request finds them', async () => {
    const instance = await testInstance(await openTestStore());
    const id = 'r'.repeat(2_600);
    const humanUsers = [{ ...person(id, { userName: 'r' }), state: 'USER_STATE_ACTIVE' }];
    const org = organisation('o', { humanUsers });
    const { errors, summary } = await instance.import({ data_orgs: { orgs: [org] } });
    expect(errors).toBeUndefined();
    const message = 'the id has more than 200 characters: no operation finds the user by it';
    expect(summary.warnings).toMatchObject([unproved, { type: 'human_user', id, reason: 'id_too_long', message }]);
    const { orgs } = await instance.export({ org_ids: ['o'] });
    expect(orgs).toMatchObject([{ humanUsers: [{ userId: id }] }]);
  });
});
