import { describe, it } from 'vitest';
import { expectMigratedAfterKills } from '../faults/support/killedMigration.ts';
import { repetitions } from '../support/repetitions.ts';

const size = repetitions({
  few: { sizes: [1_000, 1_000], rounds: 1 },
  many: { sizes: [50_000, 50_000], rounds: 5 },
});
const limited = repetitions({
  few: { sizes: [1_300, 500, 170], limits: { MAX_RESPONSE_BYTES: '330000', MAX_REQUEST_BYTES: '330000' } },
  many: { sizes: [40_000, 15_000, 5_000], limits: { MAX_RESPONSE_BYTES: '10000000', MAX_REQUEST_BYTES: '10000000' } },
});

describe('a migration whose client, source and target are killed again and again', () => {
  it('resumes to an equal result', () => expectMigratedAfterKills({ ...size, killsOfOneMigration: 6 }));

  it.each([
    ['from', { source: limited.limits }],
    ['into', { target: limited.limits }],
  ])('resumes to an equal result %s an instance that takes and returns less at once', (_direction, limits) =>
    expectMigratedAfterKills({ sizes: limited.sizes, limits, rounds: 1, killsOfOneMigration: 4 }),
  );
});
