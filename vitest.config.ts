import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { areMany } from './test/support/repetitions.ts';

/** Projects with this setup share one emulator: the first of them starts it. */
const globalSetup = ['test/support/emulators/setup.ts'];

/** Tests wait for timers, processes and databases, and no core is to be idle meanwhile. */
const WORKERS_PER_CORE = 1.5;

const MINUTE_MS = 60_000;

/** Options of both configurations. */
export const shared = {
  fsModuleCache: true,
  maxWorkers: Math.ceil(WORKERS_PER_CORE * availableParallelism()),
  testTimeout: areMany ? 30 * MINUTE_MS : MINUTE_MS,
  hookTimeout: MINUTE_MS,
};

/** What proves the product: `npm test`. The rest is in `vitest.all.config.ts`. */
export default defineConfig({
  test: {
    ...shared,
    projects: [
      // Its files share their modules: to load them anew for each file takes longer than all unit tests together.
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false } },
      { extends: true, test: { name: 'integration', include: ['test/integration/**/*.test.ts'], globalSetup } },
      { extends: true, test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'], globalSetup } },
      {
        extends: true,
        test: {
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          globalSetup,
          // Many repetitions take hours.
          testTimeout: areMany ? 240 * MINUTE_MS : 10 * MINUTE_MS,
          hookTimeout: 5 * MINUTE_MS,
        },
      },
      { extends: true, test: { name: 'acceptance', include: ['test/acceptance/**/*.test.ts'], globalSetup } },
    ],
  },
});
