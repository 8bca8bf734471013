import type { Command } from './command.ts';

const user = { type: 'string' } as const;
const org = { type: 'string' } as const;
const membership = { user, role: { type: 'string' }, org } as const;

/** Every command of `identity`; a new one is a new entry. */
export const commands: readonly Command[] = [
  {
    name: 'init',
    usage: '[--name NAME] [--expires 30d] [--token-file FILE]',
    summary: 'make the default organisation, its service user with the role IAM_OWNER, and a token of it',
    options: { name: { type: 'string' }, expires: { type: 'string' }, 'token-file': { type: 'string' } },
    positionals: 0,
    makesDatabase: true,
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    name: 'serve',
    usage: '[--host 127.0.0.1] [--port 8080] [--docs]',
    summary: 'serve the three functions on one port; --docs adds a page at /docs on which to read and try them',
    options: { host: { type: 'string' }, port: { type: 'string' }, docs: { type: 'boolean' } },
    positionals: 0,
    makesDatabase: true,
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  {
    name: 'otp-email enable',
    usage: 'USER_ID',
    summary: 'give a person the OTP e-mail factor',
    options: {},
    positionals: 1,
    load: async () => (await import('./commands/otpEmail.ts')).otpEmailEnable,
  },
  {
    name: 'pat create',
    usage: '--user ID [--expires 30d]',
    summary: 'make a personal access token of a person or service user; it is shown this once',
    options: { user, expires: { type: 'string' } },
    positionals: 0,
    load: async () => (await import('./commands/pat.ts')).patCreate,
  },
  {
    name: 'pat list',
    usage: '--user ID',
    summary: 'list the tokens of a user',
    options: { user },
    positionals: 0,
    load: async () => (await import('./commands/pat.ts')).patList,
  },
  {
    name: 'pat revoke',
    usage: 'TOKEN_ID',
    summary: 'make a token invalid at once',
    options: {},
    positionals: 1,
    load: async () => (await import('./commands/pat.ts')).patRevoke,
  },
  {
    name: 'member add',
    usage: '--user ID --role ROLE [--org ID]',
    summary: 'give a user a role on the instance, or with --org on an organisation',
    options: membership,
    positionals: 0,
    load: async () => (await import('./commands/member.ts')).memberAdd,
  },
  {
    name: 'member remove',
    usage: '--user ID --role ROLE [--org ID]',
    summary: 'take the role away again',
    options: membership,
    positionals: 0,
    load: async () => (await import('./commands/member.ts')).memberRemove,
  },
  {
    name: 'service-user create',
    usage: '[--org ID] NAME',
    summary: 'make a service user, in the default organisation unless told otherwise',
    options: { org },
    positionals: 1,
    load: async () => (await import('./commands/serviceUser.ts')).serviceUserCreate,
  },
  {
    name: 'service-user delete',
    usage: 'USER_ID',
    summary: 'delete a service user with its tokens and memberships',
    options: {},
    positionals: 1,
    load: async () => (await import('./commands/serviceUser.ts')).serviceUserDelete,
  },
];
