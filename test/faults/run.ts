import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';
import { seed } from './support/random.ts';
import { reportRows, reportTable, timesOf } from './support/report.ts';
import type { Survived } from './support/survived.ts';

// `npm run test:faults [-- --write] [FILTER …]`: tries every fault many times, or those of the test files that a
// filter names; with --write, docs/reliability.md is made of what was survived, if that is all.

const REPORT = fileURLToPath(new URL('../../docs/reliability.md', import.meta.url));
/** Most of the tests wait for a process, a database or a network. */
const WORKERS_PER_CORE = 2;

const { values, positionals } = parseArgs({
  options: { write: { type: 'boolean', default: false } },
  allowPositionals: true,
});
process.env.TEST_REPETITIONS = 'many';
process.env.FAULTS_SEED = String(seed);
const begin = performance.now();
const maxWorkers = WORKERS_PER_CORE * availableParallelism();
const vitest = await startVitest('test', positionals, { project: ['faults'], watch: false, maxWorkers });
const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
const survived = tests.flatMap((test) => (test.ok() ? (test.meta().survived ?? []) : []));
const untried = reportRows.filter((row) => timesOf(row, survived) === 0);
const minutes = Math.round((performance.now() - begin) / 60_000);
await vitest.close();
process.stdout.write(`\n${reportTable(survived)}\n`);
for (const { fault, place } of untried) process.stdout.write(`not survived in ${place}: ${fault}\n`);
if (untried.length > 0 || tests.some((test) => !test.ok())) process.exitCode = 1;
else if (values.write) await writeFile(REPORT, report(survived));

function report(all: readonly Survived[]): string {
  const struck = all.reduce((sum, { times }) => sum + times, 0);
  const date = new Date().toISOString().slice(0, 10);
  return `# Faults tried and survived

Made by \`npm run test:faults -- --write\`, not by hand; each run of all tests tries the same faults less often.
This run: ${date}, Node ${process.version}, Firestore in its emulator, ${minutes} minutes, \`FAULTS_SEED=${seed}\`, ${struck.toLocaleString('en')} faults.

After every fault in an import the whole database is read and checked: every claim has its record and every record its
claims, every reference resolves, every digest is that of its record, and there is nothing of the file's organisations
but what is in the file. In the end the import is sent until it is done, and the database is compared, record by record
and by an export, with one into which the same file was imported undisturbed.

${reportTable(all)}
`;
}
