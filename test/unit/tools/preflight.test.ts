import { describe, expect, it } from 'vitest';
import {
  findObstacles,
  policyChecks,
  readRules,
  renderObstacles,
  rulesEnforce,
  rulesExclude,
  rulesRestrict,
} from '../../../tools/preflight/preflight.ts';

const domains = 'iam.allowedPolicyMemberDomains';
const keys = 'iam.disableServiceAccountKeyCreation';

/** A `gcloud` of an organisation with these rules, by constraint; all other constraints have none. */
function organisation(rules: Readonly<Record<string, object>>) {
  const calls: string[] = [];
  const gcloud = async (args: readonly string[]) => {
    calls.push(args.join(' '));
    const constraint = args[2] ?? '';
    const spec = rules[constraint] === undefined ? {} : { rules: [rules[constraint]] };
    return { code: 0, stdout: JSON.stringify({ name: `projects/1/policies/${constraint}`, spec }), stderr: '' };
  };
  return { calls, gcloud };
}

describe('the preflight', () => {
  it('asks for the policies in effect on the project, and for nothing else', async () => {
    const { calls, gcloud } = organisation({});
    expect(await findObstacles('acme-identity', gcloud)).toEqual([]);
    expect(calls).toEqual(
      policyChecks.map(
        ({ constraint }) => `org-policies describe ${constraint} --effective --format=json --project=acme-identity`,
      ),
    );
  });

  it('names each policy that is in the way, and what to do', async () => {
    const { gcloud } = organisation({ [domains]: { values: { allowedValues: ['C0abc'] } }, [keys]: { enforce: true } });
    const obstacles = await findObstacles('acme-identity', gcloud);
    expect(obstacles.map(({ constraint }) => constraint)).toEqual([domains, keys]);
    const report = renderObstacles('acme-identity', obstacles);
    expect(report).toContain(
      `${domains} forbids the role of an invoker for allUsers:\n  set public_access = "unchecked"`,
    );
    expect(report).toMatch(new RegExp(`^${keys} forbids keys`, 'm'));
  });

  it('says so where none is', () => {
    expect(renderObstacles('acme-identity', [])).toBe('none of 13 policies is in the way in acme-identity\n');
  });

  it("fails with gcloud's own words where a policy cannot be read", async () => {
    const gcloud = async () => ({ code: 1, stdout: '', stderr: 'ERROR: PERMISSION_DENIED\n' });
    await expect(findObstacles('acme-identity', gcloud)).rejects.toThrow(
      /describe .* failed: ERROR: PERMISSION_DENIED$/,
    );
  });

  it('knows each policy that is on when it is enforced, or when it allows another value only', () => {
    for (const { constraint, isInTheWay } of policyChecks) {
      const base = { enforce: false, allowAll: false, denyAll: false };
      const isOn =
        isInTheWay([{ ...base, enforce: true }]) ||
        isInTheWay([{ ...base, values: { allowedValues: ['OTHER'], deniedValues: [] } }]);
      expect(isOn, constraint).toBe(true);
      expect(isInTheWay([{ ...base, allowAll: true }]), constraint).toBe(false);
    }
  });
});

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
