import { describe, expect, it } from 'vitest';
import { explain, explainBesideHash } from '../../../../cli/migrate/explanations.ts';
import type { RecordContent } from '../../../../cli/records/comparedRecord.ts';
import type { RecordDifference } from '../../../../cli/records/runDatabase.ts';
import type { ImportResponse } from '../../../../functions/import/contract.ts';

const record = { section: 'humanUsers', orgId: 'acme', id: 'ada' };
const changed: RecordDifference = { ...record, outcome: 'different', fields: [{ path: 'user.userName' }] };

function response(skipped: Record<string, number>): ImportResponse {
  const summary = { created: {}, unchanged: {}, skipped, failed: {}, notCarried: {}, warnings: [], proved: true };
  return { success: {}, summary };
}

const source: RecordContent = { body: '{}', secrets: {} };

function reason(
  difference: RecordDifference,
  onConflict: 'report' | 'skip' | 'overwrite',
  skipped = {},
  first: RecordContent = source,
) {
  return explain(difference, { onConflict }, response(skipped), first);
}

describe('a difference after a migration', () => {
  it.each(['onlyFirst', 'onlySecond'] as const)('is not expected if only one side has the record: %s', (outcome) => {
    expect(reason({ ...record, outcome }, 'skip', { humanUsers: 1 })).toBeUndefined();
  });

  it('is not expected if the export states that there is no factor or credential', () => {
    const fields = [{ path: 'otpEmail', first: false, second: true }];
    expect(reason({ ...changed, fields }, 'overwrite', {}, { ...source, otpEmail: false })).toBeUndefined();
    const seed = [{ path: 'user.otpCode', secret: 'onlySecond' as const }];
    expect(
      reason({ ...changed, fields: seed }, 'overwrite', {}, { ...source, lacks: ['user.otpCode'] }),
    ).toBeUndefined();
  });

  it('is expected if records of its kind were skipped on request', () => {
    expect(reason(changed, 'skip', { humanUsers: 1 })).toContain('--on-conflict skip');
    expect(reason(changed, 'skip', { projects: 1 })).toBeUndefined();
    expect(reason(changed, 'report', { humanUsers: 1 })).toBeUndefined();
  });

  it('is expected if a clear password became a hash, and nothing else differs', () => {
    const fields = [
      { path: 'user.password', secret: 'onlyFirst' as const },
      { path: 'user.hashedPassword.value', secret: 'onlySecond' as const },
    ];
    expect(reason({ ...changed, fields }, 'report')).toContain('hashed');
    const seed = { path: 'user.otpCode', secret: 'onlySecond' as const };
    expect(reason({ ...changed, fields: [...fields, seed] }, 'report')).toContain('hashed');
    expect(reason({ ...changed, fields: fields.slice(0, 1) }, 'report')).toBeUndefined();
    expect(reason({ ...changed, fields: [...fields, { path: 'user.userName' }] }, 'report')).toBeUndefined();
    const lost = [{ path: 'user.hashedPassword.value', secret: 'onlyFirst' as const }];
    expect(reason({ ...changed, fields: lost }, 'report')).toBeUndefined();
  });
});

describe('a changed hash of a person', () => {
  const hash = { path: 'user.hashedPassword.value', secret: 'different' } as const;
  const explainState = ({ fields = [] }: RecordDifference) =>
    fields.every(({ path }) => path === 'state') ? 'the state is expected' : undefined;
  const reasonOf = (fields: NonNullable<RecordDifference['fields']>, existed = true) =>
    explainBesideHash({ ...changed, fields }, existed, explainState);

  it('is explained by a login if the person existed before, even beside other explained differences', () => {
    expect(reasonOf([hash])).toMatch(
      /^ZITADEL has another hash of the password: a login has hashed the password again/,
    );
    expect(reasonOf([hash, { path: 'state' }])).toMatch(/^the state is expected; ZITADEL has another hash/);
    expect(reasonOf([hash, { path: 'user.userName' }])).toBeUndefined();
    expect(reasonOf([{ path: 'state' }])).toBe('the state is expected');
  });

  it('is not explained after the import of a new person, nor if a side has no hash', () => {
    expect(reasonOf([hash], false)).toBeUndefined();
    expect(reasonOf([{ ...hash, secret: 'onlyFirst' }])).toBeUndefined();
  });
});
