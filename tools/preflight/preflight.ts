import { z } from 'zod';
import type { Ended } from '../program.ts';

/** An organisation policy that can forbid what an instance needs. */
interface PolicyCheck {
  /** Google's name of the constraint, without `constraints/`. */
  readonly constraint: string;
  /** Whether the effective rules forbid it. */
  readonly isInTheWay: (rules: readonly Rule[]) => boolean;
  readonly forbids: string;
  readonly remedy: string;
}

const everyone = {
  forbids: 'the role of an invoker for `allUsers`',
  remedy: 'set `public_access = "unchecked"`, and run the commands of `invoker_commands`',
};

/** The policies, in the order of the report. */
export const policyChecks: readonly PolicyCheck[] = [
  { constraint: 'iam.allowedPolicyMemberDomains', isInTheWay: rulesRestrict, ...everyone },
  { constraint: 'iam.managed.allowedPolicyMembers', isInTheWay: rulesEnforce, ...everyone },
  {
    constraint: 'run.managed.requireInvokerIam',
    isInTheWay: rulesEnforce,
    forbids: '`public_access = "unchecked"`',
    remedy: 'keep `public_access = "allUsers"`; ask for an exception if that is forbidden too',
  },
  ...oldAndManaged('disableServiceAccountKeyCreation', {
    forbids: 'keys of service accounts, which requests carry for exports to buckets and imports from them',
    remedy:
      'ask for an exception for the project of the accounts in `exporters` and `importers`, or move files by the command, which needs no key with application default credentials',
  }),
  ...oldAndManaged('disableServiceAccountCreation', {
    forbids: 'the account of each function and of the builds',
    remedy: 'ask for an exception for this project',
  }),
  {
    constraint: 'cloudfunctions.allowedIngressSettings',
    isInTheWay: (rules) => rulesExclude(rules, 'ALLOW_INTERNAL_AND_GCLB'),
    forbids: 'functions that a load balancer reaches',
    remedy: 'ask for `ALLOW_INTERNAL_AND_GCLB` among the allowed values',
  },
  {
    constraint: 'run.allowedIngress',
    isInTheWay: (rules) => rulesExclude(rules, 'internal-and-cloud-load-balancing'),
    forbids: 'services that a load balancer reaches',
    remedy: 'ask for `internal-and-cloud-load-balancing` among the allowed values',
  },
  {
    constraint: 'compute.restrictLoadBalancerCreationForTypes',
    isInTheWay: (rules) => rulesExclude(rules, 'GLOBAL_EXTERNAL_MANAGED_HTTP_HTTPS'),
    forbids: 'the global load balancer',
    remedy: 'ask for `GLOBAL_EXTERNAL_MANAGED_HTTP_HTTPS` among the allowed values',
  },
  {
    constraint: 'compute.disableGlobalLoadBalancing',
    isInTheWay: rulesEnforce,
    forbids: 'the global load balancer',
    remedy: 'ask for an exception for this project',
  },
  {
    constraint: 'gcp.resourceLocations',
    isInTheWay: rulesRestrict,
    forbids: 'some locations',
    remedy:
      'choose `region` and `location` among the allowed ones, and ask for `global`, which certificates and the load balancer need',
  },
  {
    constraint: 'gcp.restrictNonCmekServices',
    isInTheWay: rulesRestrict,
    forbids: "some services with Google's own keys",
    remedy: 'set `kms_key` and `database_kms_key`',
  },
];

/** A policy that is on or off has two names: an old and a managed one. */
function oldAndManaged(name: string, texts: Pick<PolicyCheck, 'forbids' | 'remedy'>): PolicyCheck[] {
  return ['iam', 'iam.managed'].map((service) => ({
    constraint: `${service}.${name}`,
    isInTheWay: rulesEnforce,
    ...texts,
  }));
}

/** Runs `gcloud` with these arguments. */
export type Gcloud = (args: readonly string[]) => Promise<Ended>;

/** A policy that is in the way. */
export type Obstacle = Pick<PolicyCheck, 'constraint' | 'forbids' | 'remedy'>;

/**
 * Finds the organisation policies in effect on a project that forbid what an instance needs.
 * @throws Error with gcloud's own message, where a policy cannot be read
 */
export async function findObstacles(project: string, gcloud: Gcloud): Promise<readonly Obstacle[]> {
  const found: Obstacle[] = [];
  for (const { constraint, isInTheWay, forbids, remedy } of policyChecks) {
    const args = ['org-policies', 'describe', constraint, '--effective', '--format=json', `--project=${project}`];
    const { code, stdout, stderr } = await gcloud(args);
    if (code !== 0) throw new Error(`gcloud ${args.join(' ')} failed: ${stderr.trim()}`);
    if (isInTheWay(readRules(stdout))) found.push({ constraint, forbids, remedy });
  }
  return found;
}

/** Renders the report: a line for each obstacle, or that there is none. */
export function renderObstacles(project: string, obstacles: readonly Obstacle[]): string {
  if (obstacles.length === 0) return `none of ${policyChecks.length} policies is in the way in ${project}\n`;
  const lines = obstacles.map(({ constraint, forbids, remedy }) => `${constraint} forbids ${forbids}:\n  ${remedy}\n`);
  return lines.join('').replaceAll('`', '');
}

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
type Rule = z.output<typeof rule>;

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
