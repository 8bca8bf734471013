import { defineConfig, mergeConfig } from 'vitest/config';
import { areMany } from './test/support/repetitions.ts';
import proving from './vitest.config.ts';

const globalSetup = ['test/support/emulators/setup.ts'];
const MINUTE_MS = 60_000;

/** A project whose tests take minutes each, or `many` with many repetitions. */
const project = (name: string, include: string, many: number) => ({
  extends: true as const,
  test: { name, include: [include], globalSetup, testTimeout: (areMany ? many : 5) * MINUTE_MS },
});

/** All tests: `npm run test:all`, small unless TEST_REPETITIONS is `many`. */
export default mergeConfig(
  proving,
  defineConfig({
    test: {
      projects: [
        project('machine', 'test/machine/**/*.test.ts', 90),
        project('fuzz', 'test/fuzz/**/*.test.ts', 60),
        project('abuse', 'test/abuse/**/*.test.ts', 5),
        project('load', 'test/load/**/*.test.ts', 30),
        project('mutations', 'test/terraform/mutations/**/*.test.ts', 5),
        project('openapi', 'test/openapi/**/*.test.ts', 5),
      ],
    },
  }),
);
