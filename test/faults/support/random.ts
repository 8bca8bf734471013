import { randomInt } from 'node:crypto';

/** The seed of random points; FAULTS_SEED repeats a run. */
export const seed = Number(process.env.FAULTS_SEED ?? randomInt(1_000_000_000));

/** Numbers from 0 up to 1, the same for the same seed and name (mulberry32). */
export function randomOf(name: string): () => number {
  process.stderr.write(`${name}: FAULTS_SEED=${seed}\n`);
  let state = [...name].reduce((sum, character) => Math.imul(sum, 31) + character.charCodeAt(0), seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
