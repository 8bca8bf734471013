import { expect, it } from 'vitest';
import { firstDifferences } from '../../../../cli/comparison/differenceTexts.ts';

it('a long list of differences ends with the number of all', () => {
  const lines = Array.from({ length: 21 }, (_, index) => `line ${index}`);
  expect(firstDifferences(lines, 100, 471).slice(19)).toEqual(['line 19', '471 records differ; --json lists 100']);
  expect(firstDifferences(lines, 15, 15).at(-1)).toBe('15 records differ; --json lists them');
  expect(firstDifferences(lines.slice(1), 20, 20)).toHaveLength(20);
});
