import { defineConfig } from 'vitest/config';
import { shared, slowFiles, globalSetup as usualSetup } from './vitest.config.ts';

const globalSetup = [...usualSetup, 'test/support/processes/caddySetup.ts'];

/** A project whose tests may use the emulator. */
const project = (name: string, ...include: readonly string[]) => ({
  extends: true as const,
  test: { name, include: [...include], globalSetup },
});

/** More of the random steps of which `npm test` makes a few. */
const { test: machineTest, ...inherited } = project('machine', 'test/machine/**/*.test.ts');
const machine = { ...inherited, test: { ...machineTest, env: { MACHINE_STEPS: '400' } } };

/** What `npm test` leaves out: tests that need Terraform, Go or Python, and tests that take minutes. `npm run test:all` runs them. */
export default defineConfig({
  test: {
    ...shared,
    projects: [
      { extends: true, test: { name: 'terraform', include: ['test/terraform/*.test.ts'] } },
      { extends: true, test: { name: 'schema', include: ['test/schema/**/*.test.ts'] } },
      project('slow', ...slowFiles),
      project('build', 'test/build/**/*.test.ts'),
      project('large', 'test/large/**/*.test.ts'),
      machine,
      project('fuzz', 'test/fuzz/**/*.test.ts'),
      project('abuse', 'test/abuse/**/*.test.ts'),
      project('load', 'test/load/**/*.test.ts'),
      project('openapi', 'test/openapi/**/*.test.ts'),
    ],
  },
});
