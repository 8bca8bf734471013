import { describe, it } from 'vitest';
import { expectMigratedAfterKills } from './support/killedMigration.ts';

describe('a migration whose client, source or target is killed once', () => {
  it('resumes to an equal result', () =>
    expectMigratedAfterKills({ sizes: [200, 200], rounds: 1, killsOfOneMigration: 1 }));
});
