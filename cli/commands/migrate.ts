import { migrationOptions } from '../migrate/migrationOptions.ts';
import { placeDetails } from '../places/placeOptions.ts';
import { defineCommand } from '../terminal/command.ts';

export const migrateCommand = defineCommand({
  name: 'migrate',
  summary: 'move organisations from one place to another, and verify',
  details: `${placeDetails} To resume, repeat the command.`,
  arguments: [],
  options: migrationOptions,
  examples: [
    'migrate --from https://old.example.com --from-token-file old.pat --to https://new.example.com --to-token-file new.pat --with passwords,otp,keys',
  ],
  run: async (call) => (await import('../migrate/migration.ts')).migrate(call),
});
