import { expect, it, vi } from 'vitest';
import { writeBatch } from '../../../../functions/import/commit/writeBatch.ts';
import { contextOf, project, storeWith } from '../../../support/import/batches.ts';

it('a batch after existing records is read first, and a batch after new records is created without reading', async () => {
  const store = await storeWith(project('1', 'one'), project('2', 'two'));
  const transaction = vi.spyOn(store, 'transaction');
  const context = contextOf(store, 'skip');
  const attempts = async (...names: [id: string, name: string][]) => {
    transaction.mockClear();
    await writeBatch(
      context,
      names.map(([id, name]) => project(id, name)),
    );
    return transaction.mock.calls.length;
  };
  // The attempt to create fails.
  expect(await attempts(['1', 'changed'], ['3', 'three'])).toBe(2);
  expect(await attempts(['2', 'changed'], ['4', 'four'])).toBe(1);
  expect(await attempts(['5', 'five'])).toBe(1);
  expect(await attempts(['1', 'changed'])).toBe(2);
});
