import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { runSuite } from '../support/suite.ts';
import { faultTable, type Place } from './support/faultTable.ts';
import { seed } from './support/random.ts';

// `npm run test:faults [-- FILTER …]`: tries every fault many times, or those of the test files that match a filter, and
// prints the number of survived faults.

/** The tests with faults: those of the folder, and tests of the affected code. */
const everywhere = [
  'test/faults/',
  'test/machine/',
  ...[
    'access/serviceUserDeletion',
    'import/renames',
    'import/repeatedRecords',
    'store/databaseFile',
    'store/lostResponses',
    'store/sqliteStore',
  ].map((name) => `test/integration/${name}.test.ts`),
];
/** Most of the tests wait for a process, a database or a network. */
const WORKERS_PER_CORE = 2;

const { positionals } = parseArgs({ allowPositionals: true });
process.env.TEST_REPETITIONS = 'many';
process.env.FAULTS_SEED = String(seed);
const begin = performance.now();
const maxWorkers = WORKERS_PER_CORE * availableParallelism();
const files = positionals.length === 0 ? everywhere : positionals;
const tests = [
  ...(await runSuite({ mode: 'test', projects: ['faults', 'integration'], files, maxWorkers })),
  ...(await runSuite({ projects: ['slow', 'machine'], files, maxWorkers })),
];
const survived = tests.flatMap((test) => (test.ok() ? (test.meta().survived ?? []) : []));
const rows = Object.entries(faultTable).flatMap(([name, { fault, places }]) =>
  places.map((place) => ({ place, fault, times: timesOf(name, place) })),
);
const minutes = Math.round((performance.now() - begin) / 60_000);
for (const { place, fault, times } of rows)
  process.stdout.write(`${times.toLocaleString('en')} times in ${place}: ${fault}\n`);
process.stdout.write(`FAULTS_SEED=${seed}, ${minutes} minutes\n`);
const isWhole = positionals.length === 0;
const isUntried = rows.some(({ times }) => times === 0);
if (tests.length === 0) process.stderr.write(`no test matches ${positionals.join(' ')}\n`);
if (tests.length === 0 || (isWhole && isUntried) || tests.some((test) => !test.ok())) process.exitCode = 1;

/** Counts the survived faults of a kind in a place. */
function timesOf(name: string, place: Place): number {
  return survived.filter((one) => one.name === name && one.place === place).reduce((sum, { times }) => sum + times, 0);
}
