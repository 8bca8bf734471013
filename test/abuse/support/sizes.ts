import { repetitions } from '../../support/repetitions.ts';

/** The sizes of the abuses, which are smaller in `npm run test:all`. */
export const sizes = repetitions({
  few: { exports: 2, imports: 0, whiteSpaceMegabytes: 200, dryRunRecords: 20_000, attackMs: 6_000 },
  many: {
    exports: 4,
    imports: 2,
    whiteSpaceMegabytes: 900,
    dryRunRecords: 200_000,
    attackMs: 15_000,
  },
});
