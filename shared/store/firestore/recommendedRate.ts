// Google recommends at most 500 operations a second in a new collection, and 50 % more every five minutes
// (https://cloud.google.com/firestore/docs/best-practices).

const FIRST_PER_SECOND = 500;
const GROWTH = 1.5;
const PERIOD_MS = 300_000;

/** Returns the milliseconds that the creation of documents in a new collection takes at Google's recommended rate. */
export function creationMs(documents: number): number {
  let perMs = FIRST_PER_SECOND / 1_000;
  let left = documents;
  let past = 0;
  for (; left > perMs * PERIOD_MS; perMs *= GROWTH) {
    left -= perMs * PERIOD_MS;
    past += PERIOD_MS;
  }
  return past + left / perMs;
}
