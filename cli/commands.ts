import type { Command } from './command.ts';

const user = { type: 'string' } as const;
const org = { type: 'string' } as const;
const force = { type: 'boolean' } as const;
const membership = { user, role: { type: 'string' }, org } as const;

/** All commands of `identity`. */
export const commands: readonly Command[] = [
  {
    name: 'init',
    usage: '[--name NAME] [--expires 30d] [--token-file FILE]',
    summary: 'create the default organisation, an IAM_OWNER service user and its token',
    options: { name: { type: 'string' }, expires: { type: 'string' }, 'token-file': { type: 'string' } },
    positionals: 0,
    createsDatabase: true,
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    name: 'serve',
    usage: '[--host 127.0.0.1] [--port 8080] [--docs]',
    summary: 'serve the three functions on one port; --docs adds their interactive documentation at /docs',
    options: { host: { type: 'string' }, port: { type: 'string' }, docs: { type: 'boolean' } },
    positionals: 0,
    createsDatabase: true,
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  {
    name: 'otp-email enable',
    usage: 'USER_ID',
    summary: 'enable the OTP e-mail factor of a person',
    options: {},
    positionals: 1,
    load: async () => (await import('./commands/accounts.ts')).otpEmailEnable,
  },
  {
    name: 'pat create',
    usage: '--user ID [--expires 30d] [--only export|import|otp-email] [--org ID]...',
    summary:
      'create a personal access token for a person or service user, which is shown only once; --only restricts it to one operation, --org to organisations',
    options: { user, expires: { type: 'string' }, only: { type: 'string' }, org: { type: 'string', multiple: true } },
    positionals: 0,
    load: async () => (await import('./commands/accounts.ts')).patCreate,
  },
  {
    name: 'pat list',
    usage: '--user ID',
    summary: "list a user's tokens",
    options: { user },
    positionals: 0,
    load: async () => (await import('./commands/accounts.ts')).patList,
  },
  {
    name: 'pat revoke',
    usage: 'TOKEN_ID | --all --user ID',
    summary: "revoke a token, or all of a user's tokens, immediately",
    options: { all: { type: 'boolean' }, user },
    positionals: 1,
    positionalsOptional: true,
    load: async () => (await import('./commands/accounts.ts')).patRevoke,
  },
  {
    name: 'member add',
    usage: '--user ID --role ROLE [--org ID]',
    summary: 'grant a user a role on the instance, or with --org on an organisation',
    options: membership,
    positionals: 0,
    load: async () => (await import('./commands/accounts.ts')).memberAdd,
  },
  {
    name: 'member remove',
    usage: '--user ID --role ROLE [--org ID] [--force]',
    summary:
      "revoke a user's role on the instance, or with --org on an organisation; the last IAM_OWNER's needs --force",
    options: { ...membership, force },
    positionals: 0,
    load: async () => (await import('./commands/accounts.ts')).memberRemove,
  },
  {
    name: 'member list',
    usage: '[--org ID]',
    summary: 'list who holds which roles: on the instance and in all organisations, or with --org in one',
    options: { org },
    positionals: 0,
    load: async () => (await import('./commands/accounts.ts')).memberList,
  },
  {
    name: 'org list',
    usage: '',
    summary: 'list the organisations: id, state and name',
    options: {},
    positionals: 0,
    load: async () => (await import('./commands/accounts.ts')).orgList,
  },
  {
    name: 'user list',
    usage: '[--org ID]',
    summary: 'list people and service users: id, organisation, kind, state and user name',
    options: { org },
    positionals: 0,
    load: async () => (await import('./commands/accounts.ts')).userList,
  },
  {
    name: 'user lock',
    usage: 'USER_ID [--force]',
    summary: "lock a person or service user, which suspends the user's tokens; the last IAM_OWNER needs --force",
    options: { force },
    positionals: 1,
    load: async () => (await import('./commands/accounts.ts')).userLock,
  },
  {
    name: 'user unlock',
    usage: 'USER_ID',
    summary: 'unlock a person or service user',
    options: {},
    positionals: 1,
    load: async () => (await import('./commands/accounts.ts')).userUnlock,
  },
  {
    name: 'service-user create',
    usage: '[--org ID] NAME',
    summary: 'create a service user, by default in the default organisation',
    options: { org },
    positionals: 1,
    load: async () => (await import('./commands/accounts.ts')).serviceUserCreate,
  },
  {
    name: 'service-user delete',
    usage: 'USER_ID [--force]',
    summary:
      'delete a service user with its tokens, memberships and grants; repeat the command if it was interrupted; the last IAM_OWNER needs --force',
    options: { force },
    positionals: 1,
    load: async () => (await import('./commands/accounts.ts')).serviceUserDelete,
  },
  {
    name: 'upgrade',
    usage: '',
    summary:
      'migrate the database of an older version, while functions of this one serve it; repeat the command if it was interrupted',
    options: {},
    positionals: 0,
    load: async () => (await import('./commands/upgrade.ts')).upgradeDatabase,
  },
  {
    name: 'rekey',
    usage: '',
    summary:
      'encrypt all secrets with a new master key, while the instance runs: one that replaces master.key, or the first in IDENTITY_MASTER_KEY; repeat the command if it was interrupted',
    options: {},
    positionals: 0,
    load: async () => (await import('./commands/rekey.ts')).rekey,
  },
  {
    name: 'backup',
    usage: 'FILE',
    summary:
      'copy the database of a self-hosted instance, running or not, to a new file; its secrets are encrypted, and the copy has no master key: keep that apart',
    options: {},
    positionals: 1,
    load: async () => (await import('./commands/backups.ts')).backup,
  },
  {
    name: 'restore',
    usage: 'FILE [--key FILE]',
    summary:
      "create a self-hosted instance from a backup, in a directory without an instance; --key names a copy of the instance's master.key, unless the directory has it or IDENTITY_MASTER_KEY is set",
    options: { key: { type: 'string' } },
    positionals: 1,
    createsDatabase: true,
    loadPreparation: async () => (await import('./commands/backups.ts')).prepareRestore,
    load: async () => (await import('./commands/backups.ts')).restore,
  },
];
