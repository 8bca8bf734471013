import { expect, it } from 'vitest';
import { listManualSteps, listTakeBack } from '../../../../cli/migrate/manualSteps.ts';

const exporter = 'in sqlite:/south, delete the user 7, if you created this user only to export the source';
const object = 'delete the object gs://exports/north.json, if you created the object for the migration';

it.each([
  ['/exports/north.json', 'sqlite:/south', [exporter]],
  ['/exports/north.json', '/exports/south.json', []],
  ['gs://exports/north.json', '/exports/south.json', [object]],
])('the manual steps from %s to %s include deleting what the export needed: %j', async (from, to, steps) => {
  const sides = { source: { place: from, kind: 'file' }, target: { place: to, kind: 'database' } };
  const users = { exporterId: undefined, movedExporterId: '7', defaultOrgId: undefined };
  const exported = { bytes: 1, records: 1, organisations: 1, digest: '', notices: [], leftOut: [], ...users };
  const options = { orgIds: [], excludedOrgIds: [], withPasswords: false, withOtp: false, withKeys: false };
  const settings = { ...options, from, to, forZitadel: false, onConflict: 'report', secretFiles: {} };
  const run = { exported, settings: { ...settings, onConflict: 'report' as const } };
  const listed = await listManualSteps(run, sides, { from: undefined, to: undefined });
  expect(listed.map(({ what }) => what)).toEqual(steps);
});

it('an organisation has a command that deletes it only if this run reported its creation', () => {
  const many = Array.from({ length: 51 }, (_, index) => `new-${String(index).padStart(2, '0')}`);
  const steps = listTakeBack(
    { place: 'sqlite:/south', kind: 'database' },
    {
      created: many,
      createdCount: 51,
      before: new Set(['old']),
      after: new Set(['old', ...many, 'odd']),
      names: new Map([['old', 'Old']]),
    },
  );
  expect(steps.map(({ command }) => command)).toEqual([
    `identity org delete ${many.slice(0, 50).join(' ')} --data /south`,
    'identity org delete new-50 --data /south',
    undefined,
    undefined,
  ]);
  expect(steps.slice(2).map(({ what }) => what)).toEqual([
    'old (Old) existed when this run began: delete it only if an earlier, interrupted run created it',
    'odd did not exist when this run began; the command cannot determine whether this run created the organisation',
  ]);
});

it('an organisation beyond those that the target lists is named with their number', () => {
  const steps = listTakeBack(
    { place: 'https://south.example', kind: 'instance' },
    { created: ['a'], createdCount: 12_000, before: new Set(), after: new Set(['a', 'b']), names: new Map() },
  );
  expect(steps.slice(1).map(({ what }) => what)).toEqual([
    'b did not exist when this run began; https://south.example lists only 1 of the 12,000 organisations that this run created',
  ]);
});

it('an organisation that existed, was deleted and was created by this run is only to be deleted', () => {
  const seen = { created: ['a'], createdCount: 1, before: new Set(['a', 'b']), after: new Set(['a', 'b']) };
  const steps = listTakeBack({ place: 'sqlite:/south', kind: 'database' }, { ...seen, names: new Map() });
  expect(steps.map(({ what, command }) => command ?? what)).toEqual([
    'identity org delete a --data /south',
    'b existed when this run began: delete it only if an earlier, interrupted run created it',
  ]);
});
