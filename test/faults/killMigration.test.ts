import { describe, it } from 'vitest';
import { expectMigratedAfterKills } from './support/killedMigration.ts';

describe('a migration whose client, source or target is killed once', () => {
  it('is repeated to an equal result, and leaves no file', () =>
    expectMigratedAfterKills({ sizes: [200, 200], rounds: 1, killsOfOneMigration: 1 }));

  it('and that mirrors is repeated until what the source has lost is deleted', () =>
    expectMigratedAfterKills({ sizes: [200, 200], rounds: 1, killsOfOneMigration: 1, mirrors: true }));
});
