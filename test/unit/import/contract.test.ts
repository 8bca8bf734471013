import { expect, it } from 'vitest';
import { importResponse } from '../../../functions/import/contract.ts';

it('a response with the reasons of another version is accepted, and an error without a reason is not', () => {
  const counts = { created: {}, unchanged: {}, failed: {}, notCarried: {} };
  const accepts = (issue: object) =>
    importResponse.safeParse({ errors: [issue], success: {}, summary: { ...counts, warnings: [issue], proved: true } })
      .success;
  const issue = { type: 'human_user', id: 'ada', message: 'reworded' };
  expect(accepts({ ...issue, reason: 'another', params: { field: 'userId' } })).toBe(true);
  expect(accepts(issue)).toBe(false);
});
