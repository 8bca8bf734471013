import { type Rule, rulesEnforce, rulesExclude, rulesRestrict } from './rules.ts';

/** An organisation policy that can forbid what an instance needs. */
export interface PolicyCheck {
  /** Google's name of the constraint, without `constraints/`. */
  readonly constraint: string;
  /** Whether the effective rules forbid it. */
  readonly isInTheWay: (rules: readonly Rule[]) => boolean;
  readonly forbids: string;
  readonly remedy: string;
}

const KEYS = 'keys of service accounts, which requests carry for exports to buckets and imports from them';
const KEY_REMEDY =
  'ask for an exception for the project of the accounts in `exporters` and `importers`, or move files by the command, which needs no key with application default credentials';
const EVERYONE = 'the role of an invoker for `allUsers`';
const EVERYONE_REMEDY = 'set `public_access = "unchecked"`, and run the commands of `invoker_commands`';
const ACCOUNTS = 'the account of each function and of the builds';
const ACCOUNTS_REMEDY = 'ask for an exception for this project';

/** The policies, in the order of the report. */
export const policyChecks: readonly PolicyCheck[] = [
  {
    constraint: 'iam.allowedPolicyMemberDomains',
    isInTheWay: rulesRestrict,
    forbids: EVERYONE,
    remedy: EVERYONE_REMEDY,
  },
  {
    constraint: 'iam.managed.allowedPolicyMembers',
    isInTheWay: rulesEnforce,
    forbids: EVERYONE,
    remedy: EVERYONE_REMEDY,
  },
  {
    constraint: 'run.managed.requireInvokerIam',
    isInTheWay: rulesEnforce,
    forbids: '`public_access = "unchecked"`',
    remedy: 'keep `public_access = "allUsers"`; ask for an exception if that is forbidden too',
  },
  { constraint: 'iam.disableServiceAccountKeyCreation', isInTheWay: rulesEnforce, forbids: KEYS, remedy: KEY_REMEDY },
  {
    constraint: 'iam.managed.disableServiceAccountKeyCreation',
    isInTheWay: rulesEnforce,
    forbids: KEYS,
    remedy: KEY_REMEDY,
  },
  {
    constraint: 'iam.disableServiceAccountCreation',
    isInTheWay: rulesEnforce,
    forbids: ACCOUNTS,
    remedy: ACCOUNTS_REMEDY,
  },
  {
    constraint: 'iam.managed.disableServiceAccountCreation',
    isInTheWay: rulesEnforce,
    forbids: ACCOUNTS,
    remedy: ACCOUNTS_REMEDY,
  },
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
