import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { inMemory } from './test/support/processes/memorySetup.ts';
import { areMany } from './test/support/repetitions.ts';
import { NODE_COMPILE_CACHE } from './tools/program.ts';

/** Projects with this setup share one emulator, one browser and one built command: the first of them prepares these. */
export const globalSetup = [
  'test/support/emulators/setup.ts',
  'test/support/processes/browserSetup.ts',
  'test/support/processes/commandSetup.ts',
  'test/support/processes/memorySetup.ts',
];

/** Tests wait for timers, processes and databases, and no core is to be idle meanwhile. */
const WORKERS_PER_CORE = 1.5;

const MINUTE_MS = 60_000;
/** Limits end what hangs: far above what a test takes on a slow and busy machine. Many repetitions take hours. */
const TEST_MS = (areMany ? 240 : 20) * MINUTE_MS;
const POLL_MS = 2 * MINUTE_MS;

/** Options of all configurations. */
export const shared = {
  fsModuleCache: true,
  // Inherited by every process that a test starts.
  env: { NODE_COMPILE_CACHE },
  maxWorkers: Math.ceil(WORKERS_PER_CORE * availableParallelism()),
  testTimeout: TEST_MS,
  hookTimeout: TEST_MS,
  expect: { poll: { timeout: POLL_MS } },
};

/**
 * Files of integration and fault tests that wait for killed processes, broken connections and timeouts, move large files,
 * or repeat one behaviour for each combination of places. `npm test` proves each behaviour once without them.
 */
export const slowFiles = [
  'test/faults/{atOnce,auditFaults,bucketFaults,fullDisk,killFunction,killMigration,killSelfHosted,outages,storeFaults,transferCuts}.test.ts',
  'test/integration/export/largestRecords.test.ts',
  'test/integration/http/{docs,throttledDatabase,transfersInBrowser}.test.ts',
  'test/integration/migrate/{failures,limits,places,questions}.test.ts',
  'test/integration/objectStorage/{bucketFaults,bucketMemory}.test.ts',
  'test/integration/places/{failures,places,sentFiles}.test.ts',
  'test/integration/repository/{browser,documentedCommands}.test.ts',
  'test/integration/zitadel/{ledger,placeFailures}.test.ts',
];

/** A project of `npm test`: the tests of one folder. */
const project = (name: string, ...setups: readonly string[]) => ({
  extends: true as const,
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    exclude: slowFiles,
    globalSetup: [...globalSetup, ...setups],
    env: inMemory,
  },
});

/** Starts the deployment that the tests of a project share. */
const deployment = 'test/support/instances/deploymentSetup.ts';
const firestoreDeployment = 'test/support/instances/firestoreDeploymentSetup.ts';

/** What proves the product: `npm test`. The rest is in `vitest.all.config.ts`. */
export default defineConfig({
  test: {
    ...shared,
    // The files of a worker share their modules: loading them anew for each file takes longer than most files.
    isolate: false,
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      project('integration'),
      project('conformance', deployment),
      project('faults'),
      project('acceptance', deployment, firestoreDeployment),
      project('machine'),
      project('tables'),
    ],
  },
});
