import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { organisation, person, unproved } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const listed = z.looseObject({ warnings: z.array(z.unknown()) });

describe('errors and warnings', () => {
  it('are listed up to 10,000 of each, and the rest is counted', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const humanUsers = Array.from({ length: 10_002 }, (_, index) => ({
      ...person(`U${index}`, { hashedPassword: { value: 'unknown' } }),
      state: 'USER_STATE_ACTIVE',
    }));
    const userMetadata = Array.from({ length: 10_003 }, (_, index) => ({
      id: 'missing',
      key: `${index}`,
      value: 'eA==',
    }));
    const org = organisation('O', { humanUsers, userMetadata });
    const { errors, summary } = await instance.import({ dataOrgs: { orgs: [org] } });
    const { warnings } = listed.parse(summary);
    expect([errors?.length, warnings.length]).toEqual([10_000, 10_001]);
    expect(warnings.filter((warning) => isDeepStrictEqual(warning, unproved))).toHaveLength(1);
    expect(summary).toMatchObject({ errorsOmitted: 3, warningsOmitted: 2, failed: { userMetadata: 10_003 } });
  });
});
