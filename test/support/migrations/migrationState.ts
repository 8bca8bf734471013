import type { MigrationState } from '../../../cli/migrate/migrationRun.ts';
import { migrationSettings } from '../../../cli/migrate/settings.ts';

/** The state of a migration that has begun, of everything without secrets. */
export function migrationState(from: string, to: string): MigrationState {
  return {
    version: 1,
    startedAt: '2026-11-22T20:00:00.000Z',
    settings: migrationSettings.parse({ from, to, secretFiles: {} }),
    callers: {},
    phases: [],
    resumedAt: [],
  };
}
