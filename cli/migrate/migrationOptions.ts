// The options of the `migrate` commands.

import { flag, optional, required, type Surroundings, type Values } from '../command.ts';
import {
  type eventsOption,
  exportChoices,
  importChoices,
  RUN_AND_OUTPUT,
  secretsOfTwo,
  toOption,
} from '../places/placeOptions.ts';
import { SECRET_CHOICES } from '../valueFormats.ts';

/** The option of an existing migration. */
export const existingDirectory = {
  'run-dir': optional('DIR', 'by default the only ./identity-migration-*', RUN_AND_OUTPUT),
};
/** The option that skips the confirmation. */
export const yes = { yes: flag('skip the confirmation', RUN_AND_OUTPUT) };
/** The options for the secrets of both sides. */
export const sideSecrets = secretsOfTwo('the source', 'the target');

/** The options of a new migration. */
export const planning = {
  from: required('PLACE', 'the source', 'Places and credentials'),
  ...toOption('the target; a file or an object must be new'),
  ...exportChoices,
  org: { ...exportChoices.org, meaning: 'repeatable; by default all but the default organisation' },
  timeout: optional('DURATION', 'limit of each call and reconnection, such as 30m', RUN_AND_OUTPUT),
  with: { ...exportChoices.with, meaning: `${SECRET_CHOICES}; of a file by default all` },
  ...importChoices,
  'run-dir': optional('DIR', 'new directory; by default ./identity-migration-*', RUN_AND_OUTPUT),
  report: optional('FILE', 'write the result to a new HTML page', RUN_AND_OUTPUT),
  ...sideSecrets,
};

/** A call that starts a migration. */
export type PlanningCall = Surroundings & {
  readonly options: Values<typeof planning & typeof eventsOption> & Partial<Values<typeof yes>>;
};

/** A call on an existing migration. */
export type MigrationCall = Surroundings & {
  readonly options: Values<typeof existingDirectory & typeof eventsOption> &
    Partial<Values<typeof yes & typeof sideSecrets>>;
};
