import { defineCommand, required } from '../command.ts';
import { existingDirectory, planning, secrets, yes } from '../migrate/callOptions.ts';
import { eventsOption } from '../places/callOptions.ts';

export const migrate = defineCommand({
  name: 'migrate',
  summary:
    'move organisations from one place to another: plan, confirm, export, import, verify. An interrupted migration is resumed',
  arguments: [],
  options: { ...planning, ...yes, ...eventsOption },
  examples: [
    'migrate --from https://old.example.com --from-token-file old.pat --to https://new.example.com --to-token-file new.pat --with passwords,otp,keys',
    'migrate --from sqlite:./north --to gs://exports/north.json.gz --credentials-file exporter.json --with all --yes',
  ],
  run: async (call) => (await import('../migrate/migration.ts')).migrate(call),
});

export const migratePlan = defineCommand({
  name: 'migrate plan',
  summary: 'show what a migration would do, after a trial on the target; changes nothing',
  arguments: [],
  options: { ...planning, ...eventsOption },
  examples: ['migrate plan --from sqlite:./north --to https://new.example.com --to-token-file new.pat --with all'],
  run: async (call) => (await import('../migrate/migration.ts')).planMigration(call),
});

export const migrateResume = defineCommand({
  name: 'migrate resume',
  summary: 'continue a planned, interrupted or failed migration',
  arguments: [],
  options: { ...existingDirectory, ...secrets, ...yes, ...eventsOption },
  examples: ['migrate resume', 'migrate resume --run-dir ./north-migration --to-token-file new.pat'],
  run: async (call) => (await import('../migrate/migration.ts')).resumeMigration(call),
});

export const migrateReport = defineCommand({
  name: 'migrate report',
  summary: "write a finished migration's result as an HTML page, at any time, also after cleanup",
  arguments: [],
  options: { ...existingDirectory, to: required('FILE', 'the new page: one file, without scripts'), ...eventsOption },
  examples: ['migrate report --to report.html', 'migrate report --run-dir ./north-migration --to report.html'],
  run: async ({ options }) => {
    const { chooseRun } = await import('../migrate/chooseRun.ts');
    const { reportMigration } = await import('../migrate/result.ts');
    const { directory } = await chooseRun(options['run-dir']);
    return reportMigration(directory, options.to);
  },
});

export const migrateCleanup = defineCommand({
  name: 'migrate cleanup',
  summary: "delete a migration's export and the object that it has read; keep the result",
  arguments: [],
  options: { ...existingDirectory, ...secrets, ...yes, ...eventsOption },
  examples: ['migrate cleanup', 'migrate cleanup --run-dir ./north-migration --yes'],
  run: async (call) => {
    const { chooseRun } = await import('../migrate/chooseRun.ts');
    const { cleanUp } = await import('../migrate/cleanUp.ts');
    return cleanUp(call, await chooseRun(call.options['run-dir']));
  },
});
