import type { Command, Option } from '../command.ts';

const userId = { value: 'USER_ID', meaning: 'the person or service user' } as const;
const org: Option = { name: 'org', value: 'ORG_ID', meaning: 'the organisation; by default all of them' };
const forceLastOwner: Option = { name: 'force', meaning: 'also the last IAM_OWNER' };

/** The commands that manage organisations, people and service users. */
export const userCommands: readonly Command[] = [
  {
    name: 'org list',
    summary: 'list the organisations: id, state and name',
    instance: 'existing',
    isAudited: false,
    arguments: [],
    options: [],
    examples: ['org list --data ./north'],
    load: async () => (await import('../commands/accounts.ts')).orgList,
  },
  {
    name: 'org delete',
    summary:
      'delete organisations with all their records, and the tokens, roles and grants of their users elsewhere: it takes a migration back, while the instance runs; repeat the command if it was interrupted',
    instance: 'existing',
    isAudited: true,
    arguments: [{ value: 'ORG_ID', meaning: 'the organisations, at most 200', isRepeatable: true }],
    options: [{ name: 'yes', meaning: 'delete without asking' }],
    examples: ['org delete 330000000000000001 330000000000000002 --data ./north'],
    load: async () => (await import('../commands/orgDelete.ts')).orgDelete,
  },
  {
    name: 'user list',
    summary: 'list people and service users: id, organisation, kind, state and user name',
    instance: 'existing',
    isAudited: false,
    arguments: [],
    options: [org],
    examples: ['user list --org 330000000000000001 --data ./north'],
    load: async () => (await import('../commands/accounts.ts')).userList,
  },
  {
    name: 'user lock',
    summary: "lock a person or service user, which suspends the user's tokens",
    instance: 'existing',
    isAudited: true,
    arguments: [userId],
    options: [forceLastOwner],
    examples: ['user lock 330000000000000201 --data ./north'],
    load: async () => (await import('../commands/accounts.ts')).userLock,
  },
  {
    name: 'user unlock',
    summary: 'unlock a person or service user',
    instance: 'existing',
    isAudited: true,
    arguments: [userId],
    options: [],
    examples: ['user unlock 330000000000000201 --data ./north'],
    load: async () => (await import('../commands/accounts.ts')).userUnlock,
  },
  {
    name: 'otp-email enable',
    summary: 'enable the OTP e-mail factor of a person',
    instance: 'existing',
    isAudited: true,
    arguments: [{ value: 'USER_ID', meaning: 'the person' }],
    options: [],
    examples: ['otp-email enable 330000000000000201 --data ./north'],
    load: async () => (await import('../commands/accounts.ts')).otpEmailEnable,
  },
  {
    name: 'service-user create',
    summary: 'create a service user',
    instance: 'existing',
    isAudited: true,
    arguments: [{ value: 'NAME', meaning: 'user name and name of the service user' }],
    options: [{ ...org, meaning: 'the organisation; by default the default organisation' }],
    examples: ['service-user create migration --data ./north'],
    load: async () => (await import('../commands/accounts.ts')).serviceUserCreate,
  },
  {
    name: 'service-user delete',
    summary: 'delete a service user with its tokens, memberships and grants; repeat the command if it was interrupted',
    instance: 'existing',
    isAudited: true,
    arguments: [{ value: 'USER_ID', meaning: 'the service user' }],
    options: [forceLastOwner],
    examples: ['service-user delete 330000000000000301 --data ./north'],
    load: async () => (await import('../commands/accounts.ts')).serviceUserDelete,
  },
];
