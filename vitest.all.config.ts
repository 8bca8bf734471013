import { defineConfig } from 'vitest/config';
import { areMany } from './test/support/repetitions.ts';
import { shared, slowFiles } from './vitest.config.ts';

const globalSetup = ['test/support/emulators/setup.ts'];
const MINUTE_MS = 60_000;

/** A project whose tests take minutes each, or `many` with many repetitions. */
const project = (name: string, include: string | readonly string[], many: number) => ({
  extends: true as const,
  test: { name, include: [include].flat(), globalSetup, testTimeout: (areMany ? many : 5) * MINUTE_MS },
});

/** What `npm test` leaves out: tests that need Terraform, Go or Python, and tests that take minutes. `npm run test:all` runs them. */
export default defineConfig({
  test: {
    ...shared,
    projects: [
      { extends: true, test: { name: 'terraform', include: ['test/terraform/*.test.ts'] } },
      { extends: true, test: { name: 'schema', include: ['test/schema/**/*.test.ts'] } },
      project('slow', slowFiles, 60),
      project('build', 'test/build/**/*.test.ts', 5),
      project('large', 'test/large/**/*.test.ts', 60),
      project('machine', 'test/machine/**/*.test.ts', 90),
      project('fuzz', 'test/fuzz/**/*.test.ts', 60),
      project('abuse', 'test/abuse/**/*.test.ts', 5),
      project('load', 'test/load/**/*.test.ts', 30),
      project('openapi', 'test/openapi/**/*.test.ts', 5),
    ],
  },
});
