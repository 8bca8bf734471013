import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runSuite } from '../support/suite.ts';
import { readersSection } from './support/readersReport.ts';
import { fuzzingReport } from './support/report.ts';
import { seed } from './support/seed.ts';

// `npm run test:fuzz [-- --write]`: sends at least 100,000 generated requests to each function, and compares the readers of
// JSON; with --write, docs/reliability/fuzzing.md is made of what came back, if all of it is sound.

const REPORT = fileURLToPath(new URL('../../docs/reliability/fuzzing.md', import.meta.url));

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
process.env.TEST_REPETITIONS = 'many';
process.env.FUZZ_SEED = String(seed);
const begin = performance.now();
const tests = await runSuite({ projects: ['fuzz'] });
const results = tests.flatMap((test) => test.meta().fuzzed ?? []);
const readers = tests.flatMap((test) => test.meta().comparedReaders ?? []);
const isSound = tests.length > 0 && tests.every((test) => test.ok());
const minutes = Math.round((performance.now() - begin) / 60_000);
const requests = fuzzingReport(results, { seed, minutes, date: new Date() });
const report = requests + readers.map(readersSection).join('');
process.stdout.write(`\n${report}`);
if (!isSound) process.exitCode = 1;
else if (values.write) {
  await mkdir(dirname(REPORT), { recursive: true });
  await writeFile(REPORT, report);
}
