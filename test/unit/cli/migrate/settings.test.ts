import { expect, it } from 'vitest';
import { type MigrationSettings, sourceOptions, targetOptions } from '../../../../cli/migrate/settings.ts';

const given: MigrationSettings = {
  from: 'https://north.example.com',
  to: 'https://south.example.com',
  orgIds: ['a', 'b'],
  excludedOrgIds: ['b'],
  withPasswords: true,
  withOtp: false,
  withKeys: true,
  onConflict: 'skip',
  timeoutMs: 90_000,
  forZitadel: false,
  secretFiles: { 'from-token-file': '/north.pat' },
};

it('neither the source nor the target of a migration gets the places and the secret files', () => {
  const { from: _, to: __, secretFiles: ___, ...options } = given;
  expect(sourceOptions(given)).toEqual(options);
  const { forZitadel: ____, ...target } = { ...options, orgIds: [], excludedOrgIds: [], dryRun: true, ids: false };
  const asked = { withPasswords: true, withOtp: false, withKeys: true };
  expect(targetOptions(given, true)).toEqual({ ...target, asked });
});
