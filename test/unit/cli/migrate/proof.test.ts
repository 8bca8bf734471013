import { describe, expect, it } from 'vitest';
import type { RecordDifference } from '../../../../cli/compare/comparison.ts';
import { explain } from '../../../../cli/migrate/proof.ts';
import type { ImportResponse } from '../../../../functions/import/contract.ts';

const record = { section: 'humanUsers', orgId: 'acme', id: 'ada' };
const changed: RecordDifference = { ...record, outcome: 'different', fields: [{ path: 'user.userName' }] };

function response(skipped: Record<string, number>): ImportResponse {
  const summary = { created: {}, unchanged: {}, skipped, failed: {}, notCarried: {}, warnings: [], proved: true };
  return { success: {}, summary };
}

function reason(difference: RecordDifference, onConflict: 'report' | 'skip' | 'overwrite', skipped = {}) {
  return explain(difference, { onConflict }, response(skipped));
}

describe('a difference after a migration', () => {
  it('is expected where the target has more', () => {
    expect(reason({ ...record, outcome: 'onlySecond' }, 'report')).toContain('an import deletes nothing');
    expect(reason({ ...record, outcome: 'onlyFirst' }, 'skip', { humanUsers: 1 })).toBeUndefined();
  });

  it('is unchanged, as the import says, where only the target has a credential or factor', () => {
    const more = [
      { path: 'user.hashedPassword.value', secret: 'only in the second' as const },
      { path: 'otpEmail', first: false, second: true },
    ];
    expect(reason({ ...changed, fields: more }, 'report')).toMatch(/^unchanged: the target has more/);
    for (const field of [{ path: 'otpEmail', first: true, second: false }, { path: 'user.userName' }])
      expect(reason({ ...changed, fields: [...more, field] }, 'report')).toBeUndefined();
  });

  it('is expected where records of its kind were skipped because that was wanted', () => {
    expect(reason(changed, 'skip', { humanUsers: 1 })).toContain('--on-conflict skip');
    expect(reason(changed, 'skip', { projects: 1 })).toBeUndefined();
    expect(reason(changed, 'report', { humanUsers: 1 })).toBeUndefined();
  });

  it('is expected where a clear password became a hash, and nothing else differs', () => {
    const fields = [
      { path: 'user.password', secret: 'only in the first' as const },
      { path: 'user.hashedPassword.value', secret: 'only in the second' as const },
    ];
    expect(reason({ ...changed, fields }, 'report')).toContain('hashed');
    expect(reason({ ...changed, fields: [...fields, { path: 'user.userName' }] }, 'report')).toBeUndefined();
    const lost = [{ path: 'user.hashedPassword.value', secret: 'only in the first' as const }];
    expect(reason({ ...changed, fields: lost }, 'report')).toBeUndefined();
  });
});
