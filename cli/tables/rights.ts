import type { Command, Option } from '../command.ts';

const anyUser: Option = { name: 'user', value: 'USER_ID', meaning: 'the person or service user' };
const user: Option = { ...anyUser, isRequired: true };
const role: Option = { name: 'role', value: 'ROLE', meaning: 'the role', isRequired: true };
const org: Option = { name: 'org', value: 'ORG_ID', meaning: 'the organisation; by default the instance' };

/** The commands that manage tokens and roles. */
export const rightCommands: readonly Command[] = [
  {
    name: 'pat create',
    summary: 'create a personal access token for a person or service user, which is shown only once',
    instance: 'existing',
    isAudited: true,
    arguments: [],
    options: [
      user,
      { name: 'expires', value: 'DURATION', meaning: 'lifetime of the token; by default 30d' },
      { name: 'only', value: 'OPERATION', meaning: 'restrict the token to one operation' },
      { name: 'org', value: 'ORG_ID', meaning: 'restrict the token to organisations', isRepeatable: true },
    ],
    examples: ['pat create --user 330000000000000301 --expires 12h --only export --data ./north'],
    load: async () => (await import('../commands/accounts.ts')).patCreate,
  },
  {
    name: 'pat list',
    summary: "list a user's tokens",
    instance: 'existing',
    isAudited: false,
    arguments: [],
    options: [user],
    examples: ['pat list --user 330000000000000301 --data ./north'],
    load: async () => (await import('../commands/accounts.ts')).patList,
  },
  {
    name: 'pat revoke',
    summary: "revoke a token, or all of a user's tokens, immediately",
    instance: 'existing',
    isAudited: true,
    arguments: [{ value: 'TOKEN_ID', meaning: 'the token, by the id that pat list shows', isOptional: true }],
    options: [
      { name: 'all', meaning: "instead of TOKEN_ID: all of a user's tokens" },
      { ...anyUser, meaning: 'with --all: the person or service user' },
    ],
    examples: [
      'pat revoke 6f1ed002ab5595859014ebf0951522d9 --data ./north',
      'pat revoke --all --user 330000000000000301 --data ./north',
    ],
    load: async () => (await import('../commands/accounts.ts')).patRevoke,
  },
  {
    name: 'member add',
    summary: 'grant a user a role on the instance, or on an organisation',
    instance: 'existing',
    isAudited: true,
    arguments: [],
    options: [user, role, org],
    examples: [
      'member add --user 330000000000000301 --role IAM_OWNER --data ./north',
      'member add --user 330000000000000201 --role ORG_OWNER --org 330000000000000001 --data ./north',
    ],
    load: async () => (await import('../commands/accounts.ts')).memberAdd,
  },
  {
    name: 'member remove',
    summary: "revoke a user's role on the instance, or on an organisation",
    instance: 'existing',
    isAudited: true,
    arguments: [],
    options: [user, role, org, { name: 'force', meaning: "also the last IAM_OWNER's" }],
    examples: ['member remove --user 330000000000000301 --role IAM_OWNER --data ./north'],
    load: async () => (await import('../commands/accounts.ts')).memberRemove,
  },
  {
    name: 'member list',
    summary: 'list who holds which roles, on the instance and in organisations',
    instance: 'existing',
    isAudited: false,
    arguments: [],
    options: [{ ...org, meaning: 'the organisation; by default the instance and all organisations' }],
    examples: ['member list --data ./north'],
    load: async () => (await import('../commands/accounts.ts')).memberList,
  },
];
