import { describe, it } from 'vitest';
import { expectMigratedAfterKills } from './support/killedMigration.ts';

describe('a migration whose client, source or target is killed once', () => {
  it('resumes to an equal result', () =>
    expectMigratedAfterKills({ people: 2_000, rounds: 1, killsOfOneMigration: 1 }));
});
