import { expect, it } from 'vitest';
import { migrationSettings, sourceOptions, targetOptions } from '../../../../cli/migrate/settings.ts';

const given = {
  from: 'https://north.example.com',
  to: 'https://south.example.com',
  orgIds: ['a', 'b'],
  excludedOrgIds: ['b'],
  withPasswords: true,
  withOtp: false,
  withKeys: true,
  onConflict: 'skip',
  newOrgsOnly: true,
  timeoutMs: 90_000,
  secretFiles: { 'from-token-file': '/north.pat' },
};
const call = { withKeys: true, timeoutMs: 90_000 };

it('passes the source its options and the target its own, and neither the files of secrets', () => {
  const settings = migrationSettings.parse(given);
  const { orgIds, excludedOrgIds, withPasswords, withOtp, withKeys } = given;
  const source = { orgIds, excludedOrgIds, withPasswords, withOtp, forZitadel: false };
  expect(sourceOptions(settings)).toEqual({ ...call, ...source });
  const target = { orgIds: [], excludedOrgIds: [], onConflict: 'skip', newOrgsOnly: true, dryRun: true, ids: false };
  const asked = { withPasswords, withOtp, withKeys };
  expect(targetOptions(settings, true)).toEqual({ ...call, ...target, asked });
});

it('gives a migration of an earlier release the default of an option that its state does not have', () => {
  const { onConflict: _, newOrgsOnly: __, ...earlier } = given;
  expect(migrationSettings.parse(earlier)).toEqual({ ...given, onConflict: 'report', newOrgsOnly: false });
});
