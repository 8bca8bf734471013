import { expect, it } from 'vitest';
import { leftBehind } from '../../../../cli/migrate/run.ts';

it('says of a migration that is interrupted before its proof what was sent, not what has arrived', () => {
  const confirmedAt = '2026-11-22T20:00:00.000Z';
  const to = 'sqlite:./south';
  const stored = { place: to };
  expect(leftBehind({ confirmedAt, moved: { stored } }, to)).toBe(
    'everything was sent to sqlite:./south, and is not yet proved',
  );
  expect(leftBehind({ confirmedAt }, to)).toBe('what has reached sqlite:./south so far stays');
  expect(leftBehind({}, to)).toBe('nothing is changed');
});
