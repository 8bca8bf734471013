import { expect, it } from 'vitest';
import { addCounts, type Counts, increase } from '../../../shared/collections/counts.ts';

it.each(Object.getOwnPropertyNames(Object.prototype))('counts have the name %s only if it was counted', (name) => {
  const counts: Counts = {};
  increase(counts, name);
  increase(counts, name, 2);
  expect(Object.entries(counts)).toEqual([[name, 3]]);
  expect(Object.entries(addCounts(counts, counts))).toEqual([[name, 6]]);
});
