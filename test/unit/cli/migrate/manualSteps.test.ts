import { expect, it } from 'vitest';
import { listManualSteps } from '../../../../cli/migrate/manualSteps.ts';
import type { MigrationState } from '../../../../cli/migrate/migrationRun.ts';
import { migrationState } from '../../../support/migrations/migrationState.ts';

const from = '/exports/north.json';
const readAt = '2026-11-26T12:00:00.000Z';

function stateTo(to: string): MigrationState {
  return {
    ...migrationState(from, to),
    exported: {
      ...{ storedBytes: 1, bytes: 1, records: 1, organisations: 1, readAt, digest: 'sha256:0', exportedBy: '7' },
      ...{ notices: [], leftOut: [] },
    },
  };
}

it.each([
  ['sqlite:/south', ['delete the user 7, who exported the source, in sqlite:/south if it served the export only']],
  ['/exports/south.json', []],
])('the manual steps include deleting the user who exported the source if the target is %s: %j', async (to, steps) => {
  const sides = { source: { place: from, kind: 'file' }, target: { place: to, kind: 'database' } };
  expect((await listManualSteps(stateTo(to), sides)).map(({ what }) => what)).toEqual(steps);
});
