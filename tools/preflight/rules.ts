import { z } from 'zod';

const values = z.object({
  allowedValues: z.array(z.string()).default([]),
  deniedValues: z.array(z.string()).default([]),
});

const rule = z.object({
  enforce: z.boolean().default(false),
  allowAll: z.boolean().default(false),
  denyAll: z.boolean().default(false),
  values: values.optional(),
});

/** A rule of an effective policy, as `gcloud org-policies describe --effective --format=json` prints it. */
export type Rule = z.output<typeof rule>;

const policy = z.object({ spec: z.object({ rules: z.array(rule).default([]) }).optional() });

/** Reads the rules of a policy. A policy without rules forbids nothing. */
export function readRules(json: string): readonly Rule[] {
  return policy.parse(JSON.parse(json)).spec?.rules ?? [];
}

/** Whether a constraint that is on or off is on. */
export function rulesEnforce(rules: readonly Rule[]): boolean {
  return rules.some(({ enforce }) => enforce);
}

/** Whether a constraint of values leaves any value out. */
export function rulesRestrict(rules: readonly Rule[]): boolean {
  return rules.some(
    ({ denyAll, values: listed }) =>
      denyAll || (listed !== undefined && listed.allowedValues.length + listed.deniedValues.length > 0),
  );
}

/** Whether a constraint of values leaves this value out. Values of groups, such as `in:EXTERNAL`, are taken to have it. */
export function rulesExclude(rules: readonly Rule[], value: string): boolean {
  return rules.some(({ denyAll, values: listed }) => {
    const { allowedValues = [], deniedValues = [] } = listed ?? {};
    const has = (names: readonly string[]) => names.some((name) => name === value || name === `is:${value}`);
    const mayHave = has(allowedValues) || allowedValues.some((name) => name.startsWith('in:'));
    return denyAll || has(deniedValues) || (allowedValues.length > 0 && !mayHave);
  });
}
