import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { compareReaders } from '../../support/json/comparedReaders.ts';

it('the readers of the command and of the server accept the same texts as JSON.parse, and find the same values', async () => {
  const { accepted, values } = await compareReaders(2_000, randomInt(1_000_000_000));
  // Neither side of the comparison is empty.
  expect(accepted).toBeGreaterThan(400);
  expect(accepted).toBeLessThan(1_800);
  expect(values).toBeGreaterThan(2_000);
});
