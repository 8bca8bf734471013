// The `migrate` commands, except `migrate prepare`.

import { defineCommand, required } from '../command.ts';
import { existingDirectory, planning, sideSecrets, yes } from '../migrate/migrationOptions.ts';
import { eventsOption, placeDetails } from '../places/placeOptions.ts';

export const migrateCommand = defineCommand({
  name: 'migrate',
  summary: 'move organisations from one place to another, and verify',
  details: `${placeDetails} An interrupted migration is resumed.`,
  arguments: [],
  options: { ...planning, ...yes, ...eventsOption },
  examples: [
    'migrate --from https://old.example.com --from-token-file old.pat --to https://new.example.com --to-token-file new.pat --with passwords,otp,keys',
  ],
  run: async (call) => (await import('../migrate/migration.ts')).startMigration(call),
});

export const migratePlanCommand = defineCommand({
  name: 'migrate plan',
  summary: 'show what a migration would do; changes nothing',
  details: `${placeDetails} The target tries the import in a dry run.`,
  arguments: [],
  options: { ...planning, ...eventsOption },
  examples: ['migrate plan --from sqlite:./north --to https://new.example.com --to-token-file new.pat --with all'],
  run: async (call) => (await import('../migrate/migration.ts')).planMigration(call),
});

export const migrateResumeCommand = defineCommand({
  name: 'migrate resume',
  summary: 'continue a planned, interrupted or failed migration',
  arguments: [],
  options: { ...existingDirectory, ...sideSecrets, ...yes, ...eventsOption },
  examples: ['migrate resume', 'migrate resume --run-dir ./north-migration --to-token-file new.pat'],
  run: async (call) => (await import('../migrate/migration.ts')).resumeMigration(call),
});

export const migrateReportCommand = defineCommand({
  name: 'migrate report',
  summary: "write a finished migration's result as an HTML page",
  details: 'The page can be written at any time, even after cleanup.',
  arguments: [],
  options: { ...existingDirectory, to: required('FILE', 'the new page', 'Run and output'), ...eventsOption },
  examples: ['migrate report --to report.html', 'migrate report --run-dir ./north-migration --to report.html'],
  run: async ({ options }) => {
    const { chooseRun } = await import('../migrate/runDirectory.ts');
    const { reportMigration } = await import('../migrate/result.ts');
    return reportMigration(await chooseRun(options['run-dir']), options.to);
  },
});

export const migrateCleanupCommand = defineCommand({
  name: 'migrate cleanup',
  summary: "delete a migration's export; keep its result",
  details: 'An object that was the source is deleted too.',
  arguments: [],
  options: { ...existingDirectory, ...sideSecrets, ...yes, ...eventsOption },
  examples: ['migrate cleanup', 'migrate cleanup --run-dir ./north-migration --yes'],
  run: async (call) => {
    const { chooseRun } = await import('../migrate/runDirectory.ts');
    const { cleanUp } = await import('../migrate/cleanUp.ts');
    return cleanUp(call, await chooseRun(call.options['run-dir']));
  },
});
