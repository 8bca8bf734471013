import { defineConfig } from 'vitest/config';

const MINUTE_MS = 60_000;

/** Apart from the other tests: a run takes minutes, and its model is stricter than the specification in places. */
export default defineConfig({
  test: {
    include: ['test/machine/*.test.ts'],
    globalSetup: ['test/support/emulators/setup.ts'],
    testTimeout: 60 * MINUTE_MS,
    hookTimeout: 5 * MINUTE_MS,
  },
});
