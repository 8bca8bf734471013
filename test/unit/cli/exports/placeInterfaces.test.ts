import { expect, it } from 'vitest';
import { compareClocks } from '../../../../cli/exports/placeInterfaces.ts';

it.each([
  [4_000, 'ok', 'the clocks of this machine and the server agree'],
  [3_600_000, 'warning', 'this machine is 3600 s ahead of the server: let NTP set both clocks'],
  [-60_000, 'warning', 'this machine is 60 s behind the server: let NTP set both clocks'],
])('clocks that differ by %i ms are reported as %s', (aheadMs, status, message) => {
  expect(compareClocks(aheadMs, 'the server')).toEqual({ status, message });
});
