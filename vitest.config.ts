import { availableParallelism } from 'node:os';
import { defineConfig, type TestUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { inMemory } from './test/support/processes/memorySetup.ts';
import { areMany } from './test/support/repetitions.ts';
import { NODE_COMPILE_CACHE } from './tools/program.ts';

/** Projects with this setup share one emulator, one browser and one built command: the first of them prepares these. */
const globalSetup = [
  'test/support/emulators/setup.ts',
  'test/support/processes/browserSetup.ts',
  'test/support/processes/commandSetup.ts',
  'test/support/processes/memorySetup.ts',
];

/** Tests wait for timers, processes and databases, and no core is to be idle meanwhile. */
const WORKERS_PER_CORE = 2;

const MINUTE_MS = 60_000;
/** Limits end what hangs: far above what a test takes on a slow and busy machine. Many repetitions take hours. */
const TEST_MS = (areMany ? 240 : 20) * MINUTE_MS;
const POLL_MS = 2 * MINUTE_MS;

/** Options of all suites. */
const shared = {
  fsModuleCache: true,
  // Inherited by every process that a test starts.
  env: { NODE_COMPILE_CACHE },
  maxWorkers: WORKERS_PER_CORE * availableParallelism(),
  testTimeout: TEST_MS,
  hookTimeout: TEST_MS,
  expect: { poll: { timeout: POLL_MS } },
};

/**
 * Files of integration and fault tests that wait for killed processes, broken connections and timeouts, move large files,
 * or repeat one behaviour for each combination of places. `npm test` proves each behaviour once without them.
 */
const slowFiles = [
  'test/faults/{atOnce,auditFaults,bucketFaults,fullDisk,killFunction,killMigration,killSelfHosted,outages,storeFaults,transferCuts}.test.ts',
  'test/integration/export/largestRecords.test.ts',
  'test/integration/http/{docs,throttledDatabase,transfersInBrowser}.test.ts',
  'test/integration/migrate/{failures,limits,places,questions}.test.ts',
  'test/integration/objectStorage/{bucketFaults,bucketMemory}.test.ts',
  'test/integration/places/{failures,places,sentFiles}.test.ts',
  'test/integration/repository/{browser,documentedCommands}.test.ts',
  'test/integration/zitadel/{ledger,placeFailures}.test.ts',
];

/** Starts the deployment that the tests of a project share. */
const deployment = 'test/support/instances/deploymentSetup.ts';
const firestoreDeployment = 'test/support/instances/firestoreDeploymentSetup.ts';
const caddy = 'test/support/processes/caddySetup.ts';

/** A project of `npm test`: the tests of one folder. */
const folder = (name: string, ...setups: readonly string[]) => ({
  extends: true as const,
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    exclude: slowFiles,
    globalSetup: [...globalSetup, ...setups],
    env: inMemory,
  },
});

/** A project of `npm run test:all`: files that may use the emulator and a proxy. */
const project = (name: string, include: readonly string[], env: Readonly<Record<string, string>> = {}) => ({
  extends: true as const,
  test: { name, include: [...include], globalSetup: [...globalSetup, caddy], env },
});

/** A project whose tests need nothing that runs. */
const alone = (name: string, include: string) => ({ extends: true as const, test: { name, include: [include] } });

/** Runs projects in the order of their list. The usual order is that of their names, in which `tables` is nearly last. */
class ListedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return this.ctx.projects.flatMap((project) => sorted.filter((file) => file.project === project));
  }
}

/** The suites by the `--mode` that selects them. */
const suites: { readonly test: TestUserConfig; readonly [mode: string]: TestUserConfig } = {
  // What proves the product: `npm test`.
  test: {
    // The files of a worker share their modules: loading them anew for each file takes longer than most files.
    isolate: false,
    // Projects with long files come first, so that short files fill all workers until the end.
    sequence: { sequencer: ListedOrder },
    projects: [
      folder('tables'),
      folder('conformance', deployment),
      folder('integration'),
      folder('machine'),
      folder('faults'),
      folder('acceptance', deployment, firestoreDeployment),
      alone('unit', 'test/unit/**/*.test.ts'),
    ],
  },
  // Tests that need Terraform, Go or Python, and tests that take minutes: `npm run test:all`.
  all: {
    projects: [
      alone('terraform', 'test/terraform/*.test.ts'),
      alone('schema', 'test/schema/**/*.test.ts'),
      project('slow', slowFiles),
      project('build', ['test/build/**/*.test.ts']),
      project('large', ['test/large/**/*.test.ts']),
      // More of the random steps of which `npm test` makes a few.
      project('machine', ['test/machine/**/*.test.ts'], { MACHINE_STEPS: '400' }),
      project('fuzz', ['test/fuzz/**/*.test.ts']),
      project('abuse', ['test/abuse/**/*.test.ts']),
      project('load', ['test/load/**/*.test.ts']),
      project('openapi', ['test/openapi/**/*.test.ts']),
    ],
  },
  // The applies with the real provider: `npm run test:apply`.
  apply: { include: ['test/apply/*.test.ts'], globalSetup: ['test/apply/requireProvider.ts'] },
};

// A tool that reads this file, such as knip, has a mode of its own and sees the suite of `npm test`.
export default defineConfig(({ mode }) => ({ test: { ...shared, ...(suites[mode] ?? suites.test) } }));
