import { describe, expect, it } from 'vitest';
import { organisation } from '../../support/fixtures/organisations.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';

describe('unlimited numbers of unknown names', () => {
  it('are capped, and the rest is counted under one name', async () => {
    const { instance } = await countedInstance();
    const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, index]));
    const { summary } = await instance.import({ data_orgs: { orgs: [organisation('O', fields)] } });
    const names = Object.keys(summary.notCarried);
    expect(names.length).toBeLessThanOrEqual(101);
    expect(Object.values(summary.notCarried).reduce((sum, count) => sum + count, 0)).toBe(5_000);
  });
});
