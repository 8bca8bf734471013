import { randomInt } from 'node:crypto';

/** What the generated requests are made from; FUZZ_SEED repeats a run. */
export const seed = Number(process.env.FUZZ_SEED ?? randomInt(1_000_000_000));
