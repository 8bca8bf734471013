import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { importResponse } from '../../../functions/import/contract.ts';
import { warningReasons } from '../../../shared/organisation/warnings.ts';

it('the specification documents each reason of a warning', async () => {
  const specification = await readFile('docs/specification.md', 'utf8');
  const [, table = ''] = specification.split('| `reason` | warns of |\n|---|---|\n');
  const documented = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| `(\w+)`/gm)];
  expect(documented.map(([, reason]) => reason)).toEqual(warningReasons);
});

it('a warning with an unknown reason is rejected, and one of an earlier release without a reason is accepted', () => {
  const counts = { created: {}, unchanged: {}, failed: {}, notCarried: {} };
  const accepts = (warning: object) =>
    importResponse.safeParse({ success: {}, summary: { ...counts, warnings: [warning], proved: true } }).success;
  const warning = { type: 'human_user', id: 'ada', message: 'reworded' };
  expect(accepts({ ...warning, reason: 'hash_unverified' })).toBe(true);
  expect(accepts({ ...warning, reason: 'another' })).toBe(false);
  expect(accepts(warning)).toBe(true);
});
