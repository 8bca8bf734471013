import { expect, it } from 'vitest';
import { operationDenied, tokenForOtherOperation } from '../../../shared/errors/errors.ts';
import { placeTokenForbidden } from '../../../shared/errors/placeErrors.ts';

it("the error of a place recommends another user unless the instance's error is about a restricted token, whatever its message is", () => {
  const recommends = (body: unknown) =>
    placeTokenForbidden('https://north.example', '--token-file', 'reworded', body).message.includes('IAM_OWNER');
  expect(
    recommends({ ...tokenForOtherOperation({ only: ['import'], requested: 'export' }).toJson(), message: 'reworded' }),
  ).toBe(false);
  expect(recommends(operationDenied().toJson())).toBe(true);
  expect(recommends(undefined)).toBe(true);
});
