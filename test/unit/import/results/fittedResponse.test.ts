import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImportResponse } from '../../../../functions/import/contract.ts';
import { importResponse } from '../../../../functions/import/contract.ts';
import { fittedResponse } from '../../../../functions/import/results/fittedResponse.ts';

const issue = (index: number) => ({
  type: 'human_user',
  id: `user ${index}`,
  message: 'ID=COMMAND-ziuna',
  reason: 'record_exists',
});
const listOf = (count: number) => Array.from({ length: count }, (_, index) => issue(index));

function response(errors: number, warnings: number, ids: number): ImportResponse {
  const humanUserIds = Array.from({ length: ids }, (_, index) => `user ${index}`);
  return {
    ...(errors === 0 ? {} : { errors: listOf(errors) }),
    success: { orgs: [{ orgId: 'a', humanUserIds }] },
    summary: {
      created: ids === 0 ? {} : { humanUsers: ids },
      ...(ids === 0 ? {} : { createdOrgs: ['a'] }),
      unchanged: {},
      failed: errors === 0 ? {} : { humanUsers: errors },
      notCarried: {},
      warnings: listOf(warnings),
      proved: true,
    },
  };
}

const parsed = (text: string) => importResponse.parse(JSON.parse(text));

describe('a response that fits', () => {
  it('is unchanged, up to its last byte', () => {
    const whole = response(2, 2, 2);
    const text = JSON.stringify(whole);
    expect(fittedResponse(whole, text.length)).toBe(text);
    expect(fittedResponse(whole, Number.POSITIVE_INFINITY)).toBe(text);
  });
});

describe('a response that is too large', () => {
  it('omits the ids first', () => {
    const whole = response(3, 3, 1_000);
    const { errors, success, summary } = parsed(fittedResponse(whole, 2_000));
    expect(success).toEqual({ orgs: [{ orgId: 'a' }] });
    expect({ errors, warnings: summary.warnings }).toEqual({ errors: whole.errors, warnings: whole.summary.warnings });
    expect(summary.idsOmitted).toBe(true);
  });

  it('omits warnings before errors, and counts them', () => {
    const { errors = [], summary } = parsed(fittedResponse(response(10, 100, 0), 2_000));
    expect(errors).toHaveLength(10);
    expect(summary.warningsOmitted).toBe(100 - summary.warnings.length);
    expect(summary.errorsOmitted).toBeUndefined();
  });

  it('keeps the counts if it has room for nothing else', () => {
    const { summary, success } = parsed(fittedResponse(response(100, 100, 100), 10));
    expect(success).toEqual({});
    expect(summary).not.toHaveProperty('createdOrgs');
    expect(summary).toMatchObject({ created: { humanUsers: 100 }, errorsOmitted: 100, warningsOmitted: 100 });
  });

  it('stays below the limit, and accounts for every error and warning', () => {
    const sizes = fc.tuple(fc.nat(200), fc.nat(200), fc.nat(200), fc.integer({ min: 500, max: 30_000 }));
    const property = fc.property(sizes, ([errors, warnings, ids, maxBytes]) => {
      const text = fittedResponse(response(errors, warnings, ids), maxBytes);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
      const { errors: listed = [], summary } = parsed(text);
      expect(listed.length + (summary.errorsOmitted ?? 0)).toBe(errors);
      expect(summary.warnings.length + (summary.warningsOmitted ?? 0)).toBe(warnings);
    });
    fc.assert(property);
  });
});
