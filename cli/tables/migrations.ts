import type { Command, Option } from '../command.ts';
import { json, secretsOfTwo, selection, timeout, withSecrets } from './places.ts';

const runDirectory: Option = {
  name: 'run-dir',
  value: 'DIR',
  meaning: "the migration's directory; by default the latest identity-migration-… in the current one",
};
const newRunDirectory: Option = {
  ...runDirectory,
  meaning: "the new directory for the migration's state; by default ./identity-migration-TIME",
};
const yes: Option = { name: 'yes', meaning: 'do not ask' };
const secrets = secretsOfTwo('the source', 'the target');

const planning: readonly Option[] = [
  { name: 'from', value: 'PLACE', meaning: 'the source', isRequired: true },
  {
    name: 'to',
    value: 'PLACE',
    meaning: 'the target: an instance, a database, a new file or a new object',
    isRequired: true,
  },
  ...selection,
  { ...withSecrets, meaning: 'the secrets that move, such as passwords,otp,keys; by default none' },
  { name: 'on-conflict', value: 'CONFLICT', meaning: 'what to do with records that exist with other content' },
  { name: 'new-orgs-only', meaning: 'fail if an organisation exists that this migration has not created' },
  timeout,
  newRunDirectory,
  { name: 'report', value: 'FILE', meaning: 'the HTML page to write about the result: one file, without scripts' },
  ...secrets,
];

/** The commands that move organisations from one place to another, and prove it. */
export const migrationCommands: readonly Command[] = [
  {
    name: 'migrate',
    summary:
      'move organisations from a place to another: plan, ask, export, import, and compare both sides at the end. An interrupted migration is resumed',
    instance: 'none',
    arguments: [],
    options: [...planning, yes, json],
    examples: [
      'migrate --from https://old.example.com --from-token-file old.pat --to https://new.example.com --to-token-file new.pat --with passwords,otp,keys',
      'migrate --from sqlite:./north --to gs://exports/north.json.gz --credentials-file exporter.json --yes',
    ],
    load: async () => (await import('../commands/migrate.ts')).migrate,
  },
  {
    name: 'migrate plan',
    summary: 'say what a migration would do, with a trial on the target, and change nothing',
    instance: 'none',
    arguments: [],
    options: [...planning, json],
    examples: ['migrate plan --from sqlite:./north --to https://new.example.com --to-token-file new.pat'],
    load: async () => (await import('../commands/migrate.ts')).migratePlan,
  },
  {
    name: 'migrate resume',
    summary: 'go on with a migration that was planned, interrupted or has failed',
    instance: 'none',
    arguments: [],
    options: [runDirectory, ...secrets, yes, json],
    examples: ['migrate resume', 'migrate resume --run-dir ./north-migration --to-token-file new.pat'],
    load: async () => (await import('../commands/migrate.ts')).migrateResume,
  },
  {
    name: 'migrate status',
    summary: 'say how far a migration has come, whether a process works on it, and what goes on with it',
    instance: 'none',
    arguments: [],
    options: [runDirectory, json],
    examples: ['migrate status'],
    load: async () => (await import('../commands/migrate.ts')).migrateStatus,
  },
  {
    name: 'migrate cleanup',
    summary:
      "remove what a migration leaves behind: its run directory, the object that it has read, and a ZITADEL's service users; for the others, say how",
    instance: 'none',
    arguments: [],
    options: [runDirectory, ...secrets, yes, json],
    examples: ['migrate cleanup', 'migrate cleanup --run-dir ./north-migration --yes'],
    load: async () => (await import('../commands/migrate.ts')).migrateCleanup,
  },
];
