import { expect, it } from 'vitest';
import { importQuery, toRequest } from '../../../../cli/places/importQuery.ts';
import { exportOptions } from '../../../../functions/export/contract.ts';

const scope = {
  orgIds: ['a', 'b'],
  excludedOrgIds: [],
  withKeys: true,
  timeoutMs: 90_000,
  accepted: ['unknown-states'],
} as const;

it('the query of an import has the options of its request, and no others', () => {
  const options = { ...scope, onConflict: 'skip', dryRun: true, ids: true } as const;
  const { searchParams } = new URL(`https://id.example.com?${importQuery(options)}`);
  expect(
    Object.fromEntries([...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)])),
  ).toEqual({
    timeout: ['90000ms'],
    org_ids: ['a', 'b'],
    with_keys: ['true'],
    on_conflict: ['skip'],
    dry_run: ['true'],
    ids: ['true'],
  });
});

it('the query of an export has the options of its request, and no others', () => {
  const options = { ...scope, withPasswords: true, withOtp: false, onUnexported: () => {} };
  expect(toRequest(options, exportOptions)).toEqual({
    timeout: '90000ms',
    org_ids: ['a', 'b'],
    excluded_org_ids: [],
    with_passwords: true,
    with_otp: false,
    with_keys: true,
  });
});
