import { flag, optional, required, type Surroundings, type Values } from '../command.ts';
import { type eventsOption, exportChoices, importChoices, secretsOfTwo, toOption } from '../places/callOptions.ts';
import { SECRET_CHOICES } from '../values.ts';

/** The option of a migration that exists. */
export const existingDirectory = {
  'run-dir': optional('DIR', "the migration's directory; by default the only ./identity-migration-* directory"),
};
/** The option that confirms. */
export const yes = { yes: flag('do not ask') };
/** The options for the secrets of both sides. */
export const secrets = secretsOfTwo('the source', 'the target');

/** The options that say what moves, and how. */
export const planning = {
  from: required('PLACE', 'the source'),
  ...toOption('the target: an instance, a database, a new file or a new object'),
  ...exportChoices,
  org: { ...exportChoices.org, meaning: `${exportChoices.org.meaning}; not for a file or object` },
  'exclude-org': {
    ...exportChoices['exclude-org'],
    meaning: `${exportChoices['exclude-org'].meaning}; not for a file or object`,
  },
  timeout: optional(
    'DURATION',
    'time limit of each call such as 30m, by default as long as the place allows; and of the waits for a lost connection, by default 1m',
  ),
  with: optional(
    'SECRETS',
    `the secrets that move: ${SECRET_CHOICES}; a terminal is asked; of a file by default all, and it must have no others`,
  ),
  ...importChoices,
  'run-dir': optional(
    'DIR',
    "the new directory for the migration's state; by default a new ./identity-migration-TIME-…",
  ),
  report: optional('FILE', 'the HTML page to write about the result: one file, without scripts'),
  ...secrets,
};

/** A call that begins a migration. */
export type PlanningCall = Surroundings & {
  readonly options: Values<typeof planning & typeof eventsOption> & Partial<Values<typeof yes>>;
};

/** A call on a migration that exists. */
export type MigrationCall = Surroundings & {
  readonly options: Values<typeof existingDirectory & typeof eventsOption> &
    Partial<Values<typeof yes & typeof secrets>>;
};
