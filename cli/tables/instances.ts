import type { Command } from '../command.ts';

/** The commands that set up and serve an instance. */
export const instanceCommands: readonly Command[] = [
  {
    name: 'init',
    summary: 'create the default organisation, an IAM_OWNER service user and its token',
    instance: 'created',
    isAudited: true,
    arguments: [],
    options: [
      {
        name: 'name',
        value: 'NAME',
        meaning: 'name of the instance and its organisation; by default that of the directory or database',
      },
      { name: 'expires', value: 'DURATION', meaning: 'lifetime of the token; by default 30d' },
      { name: 'token-file', value: 'FILE', meaning: 'write the token to a file instead of printing it' },
    ],
    examples: ['init --data ./north --token-file owner.pat', 'init --firestore my-project/north --name north'],
    load: async () => (await import('../commands/init.ts')).init,
  },
  {
    name: 'serve',
    summary: 'serve the three functions on one port, until SIGINT or SIGTERM',
    instance: 'existing',
    isAudited: false,
    arguments: [],
    options: [
      { name: 'host', value: 'HOST', meaning: 'address to listen on; by default 127.0.0.1' },
      { name: 'port', value: 'PORT', meaning: 'port to listen on; by default 8080' },
      { name: 'docs', meaning: 'add the interactive documentation of the functions at /docs' },
      {
        name: 'tls-cert-file',
        value: 'FILE',
        meaning:
          'serve HTTPS with the certificate of this PEM file, followed by the intermediate ones; SIGHUP reads it again',
      },
      { name: 'tls-key-file', value: 'FILE', meaning: "the certificate's private key, PEM" },
    ],
    examples: [
      'serve --data ./north --port 8080 --docs',
      'serve --data ./north --host 0.0.0.0 --port 443 --tls-cert-file tls.crt --tls-key-file tls.key',
    ],
    load: async () => (await import('../commands/serve.ts')).serve,
  },
  {
    name: 'rekey',
    summary:
      'encrypt all secrets with a new master key, while the instance runs: one that replaces master.key, or the first in IDENTITY_MASTER_KEY; repeat the command if it was interrupted',
    instance: 'existing',
    isAudited: true,
    arguments: [],
    options: [],
    examples: ['rekey --data ./north'],
    load: async () => (await import('../commands/rekey.ts')).rekey,
  },
  {
    name: 'backup',
    summary:
      'copy the database and the audit trail of a self-hosted instance, running or not, to a new file; its secrets are encrypted, and the copy has no master key: keep that apart',
    instance: 'existing',
    isAudited: true,
    arguments: [{ value: 'FILE', meaning: 'the file to create' }],
    options: [],
    examples: ['backup north.backup --data ./north'],
    load: async () => (await import('../commands/backups.ts')).backup,
  },
  {
    name: 'restore',
    summary: 'create a self-hosted instance from a backup, in a directory without an instance',
    instance: 'created',
    isAudited: true,
    arguments: [{ value: 'FILE', meaning: 'the backup' }],
    options: [
      {
        name: 'key',
        value: 'FILE',
        meaning: "a copy of the instance's master.key, unless the directory has it or IDENTITY_MASTER_KEY is set",
      },
    ],
    examples: ['restore north.backup --data ./restored --key north.key'],
    loadPreparation: async () => (await import('../commands/backups.ts')).prepareRestore,
    load: async () => (await import('../commands/backups.ts')).restore,
  },
  {
    name: 'audit',
    summary: 'list who did what on a self-hosted instance: exports, imports, removals and commands',
    instance: 'existing',
    isAudited: false,
    arguments: [],
    options: [{ name: 'since', value: 'DURATION', meaning: 'how far to go back; by default 24h' }],
    examples: ['audit --since 7d --data ./north'],
    load: async () => (await import('../commands/audit.ts')).auditList,
  },
];
