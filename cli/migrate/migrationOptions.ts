import {
  eventsOption,
  exportChoices,
  importChoices,
  mirrorChoices,
  movedSecrets,
  RUN_AND_OUTPUT,
  secretsOfTwo,
  toOption,
} from '../places/placeOptions.ts';
import { flag, optional, required, type Surroundings, type Values } from '../terminal/command.ts';

export const migrationOptions = {
  from: required('PLACE', 'the source', 'Places and credentials'),
  ...toOption('the target; a file or an object must be new'),
  ...secretsOfTwo('the source', 'the target'),
  ...exportChoices,
  org: { ...exportChoices.org, meaning: 'by default all except the default organisation' },
  timeout: optional('DURATION', 'time limit of a call, and of reconnecting', RUN_AND_OUTPUT),
  ...movedSecrets,
  ...importChoices,
  ...mirrorChoices,
  'dry-run': flag('show the plan and its digest; change nothing', RUN_AND_OUTPUT),
  expect: optional('DIGEST', 'digest of a dry run; stops if anything changed', RUN_AND_OUTPUT),
  report: optional('FILE', 'new file for the result: FILE.html or FILE.json', RUN_AND_OUTPUT),
  yes: flag('skip the confirmation', RUN_AND_OUTPUT),
  ...eventsOption,
};

export type MigrationCall = Surroundings & { readonly options: Values<typeof migrationOptions> };
