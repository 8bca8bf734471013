import { describe, expect, it } from 'vitest';
import { readRules, rulesEnforce, rulesExclude, rulesRestrict } from '../../../../tools/preflight/rules.ts';

const rules = (...listed: readonly object[]) => readRules(JSON.stringify({ spec: { rules: listed } }));

describe('the rules of an organisation policy', () => {
  it('forbid nothing where there are none', () => {
    for (const policy of [{}, { name: 'projects/1/policies/x' }, { spec: {} }, { spec: { rules: [] } }]) {
      const none = readRules(JSON.stringify(policy));
      expect([rulesEnforce(none), rulesRestrict(none), rulesExclude(none, 'A')]).toEqual([false, false, false]);
    }
  });

  it('enforce a constraint that is on', () => {
    expect(rulesEnforce(rules({ enforce: true }))).toBe(true);
    expect(rulesEnforce(rules({ enforce: false }))).toBe(false);
  });

  it.each([
    [{ allowAll: true }, false],
    [{ denyAll: true }, true],
    [{ values: { allowedValues: ['C0abc'] } }, true],
    [{ values: { deniedValues: ['is:storage.googleapis.com'] } }, true],
  ])('restrict values: %j is %s', (rule, restricts) => {
    expect(rulesRestrict(rules(rule))).toBe(restricts);
  });

  it.each([
    [{ allowAll: true }, false],
    [{ denyAll: true }, true],
    [{ values: { allowedValues: ['ALLOW_INTERNAL_ONLY'] } }, true],
    [{ values: { allowedValues: ['ALLOW_INTERNAL_ONLY', 'ALLOW_INTERNAL_AND_GCLB'] } }, false],
    [{ values: { allowedValues: ['is:ALLOW_INTERNAL_AND_GCLB'] } }, false],
    [{ values: { allowedValues: ['in:EXTERNAL'] } }, false],
    [{ values: { deniedValues: ['ALLOW_ALL'] } }, false],
    [{ values: { deniedValues: ['ALLOW_INTERNAL_AND_GCLB'] } }, true],
  ])('exclude a value: %j is %s', (rule, excludes) => {
    expect(rulesExclude(rules(rule), 'ALLOW_INTERNAL_AND_GCLB')).toBe(excludes);
  });
});
