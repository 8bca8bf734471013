import { expect, it } from 'vitest';
import { leftBehind } from '../../../../cli/migrate/run.ts';

it('says of a migration that is interrupted before its proof what was sent, not what has arrived', () => {
  const confirmedAt = '2026-11-22T20:00:00.000Z';
  const settings = { to: 'sqlite:./south' };
  const stored = { place: settings.to };
  expect(leftBehind({ confirmedAt, moved: { stored }, settings })).toBe(
    'everything was sent to sqlite:./south, and is not yet proved',
  );
  expect(leftBehind({ confirmedAt, settings })).toBe('what has reached sqlite:./south so far stays');
  expect(leftBehind({ settings })).toBe('nothing is changed');
});
