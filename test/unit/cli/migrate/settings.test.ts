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

it('the settings pass the source and the target their own options, and neither gets the secret files', () => {
  const settings = migrationSettings.parse(given);
  const { orgIds, excludedOrgIds, withPasswords, withOtp, withKeys } = given;
  const source = { orgIds, excludedOrgIds, withPasswords, withOtp, forZitadel: false };
  expect(sourceOptions(settings)).toEqual({ ...call, ...source });
  const target = { orgIds: [], excludedOrgIds: [], onConflict: 'skip', newOrgsOnly: true, dryRun: true, ids: false };
  const asked = { withPasswords, withOtp, withKeys };
  expect(targetOptions(settings, true)).toEqual({ ...call, ...target, asked });
});

it('a migration of an earlier release has the default of an option that its state lacks', () => {
  const { onConflict: _, newOrgsOnly: __, ...earlier } = given;
  expect(migrationSettings.parse(earlier)).toEqual({ ...given, onConflict: 'report', newOrgsOnly: false });
});
