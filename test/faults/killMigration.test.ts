import { describe, it } from 'vitest';
import { expectMigratedAfterKills } from './support/killedMigration.ts';

describe('a migration whose client, source or target is killed once', () => {
  it('resumes to an equal result', () =>
    expectMigratedAfterKills({ sizes: [1_000, 1_000], rounds: 1, killsOfOneMigration: 1 }));
});
