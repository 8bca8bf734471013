import { describe, it } from 'vitest';
import { expectMigratedAfterKills } from '../faults/support/killedMigration.ts';
import { repetitions } from '../support/repetitions.ts';

const size = repetitions({ few: { people: 6_000, rounds: 1 }, many: { people: 100_000, rounds: 5 } });

describe('a migration whose client, source and target are killed again and again', () => {
  it('resumes to an equal result', { timeout: 14_400_000 }, () =>
    expectMigratedAfterKills({ ...size, killsOfOneMigration: 6 }),
  );
});
