import { repetitions } from '../../support/repetitions.ts';

/** The sizes of the abuses, which are smaller in `npm run test:all`. */
export const sizes = repetitions({
  few: {
    imports: 0,
    // More than twice the limit, because an escaped line break has two bytes.
    whiteSpaceMegabytes: 140,
    attackMs: 4_000,
    people: 5_000,
    listEntries: 10_000,
    recordEntries: 20_000,
  },
  many: {
    imports: 2,
    whiteSpaceMegabytes: 900,
    attackMs: 15_000,
    people: 20_000,
    listEntries: 100_000,
    // The maximum number in a record of a megabyte.
    recordEntries: 320_000,
  },
});
