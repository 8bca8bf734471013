import { describe, it } from 'vitest';
import { expectMigratedAfterKills } from '../faults/support/killedMigration.ts';
import { repetitions } from '../support/repetitions.ts';

const size = repetitions({ few: { sizes: [1_000, 1_000], rounds: 1 }, many: { sizes: [50_000, 50_000], rounds: 5 } });
const limited = repetitions({
  few: { sizes: [1_300, 500, 170], bytes: 330_000 },
  many: { sizes: [40_000, 15_000, 5_000], bytes: 10_000_000 },
});

describe('a migration whose client, source and target are killed again and again', () => {
  it('is repeated to an equal result, and leaves no file', () =>
    expectMigratedAfterKills({ ...size, killsOfOneMigration: 6 }));

  it('is repeated to an equal result, and leaves no file if larger files pass through a bucket', () =>
    expectMigratedAfterKills({ ...limited, rounds: 1, killsOfOneMigration: 6 }));
});
