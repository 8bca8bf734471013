import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { seed } from '../faults/support/random.ts';
import { runSuite } from '../support/suite.ts';
import { diagramName, drawResources, loadDocument } from './support/report.ts';

// `npm run test:load [-- --write]`: sends the mixed traffic to both stores at once, for 15 minutes. With --write,
// docs/reliability/load.md and its diagrams are made of what it has shown, if nothing failed.

const DIRECTORY = new URL('../../docs/reliability/', import.meta.url);
const fileIn = (name: string) => fileURLToPath(new URL(name, DIRECTORY));

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
process.env.TEST_REPETITIONS = 'many';
process.env.FAULTS_SEED = String(seed);
const tests = await runSuite({ projects: ['load'], files: ['test/load/'], maxWorkers: 2 });
const results = tests.flatMap((test) => test.meta().load ?? []).sort((a, b) => b.store.localeCompare(a.store));
if (tests.length === 0 || tests.some((test) => !test.ok() || test.meta().load === undefined)) process.exitCode = 1;
else if (values.write) {
  for (const result of results) await writeFile(fileIn(diagramName(result)), drawResources(result));
  await writeFile(fileIn('load.md'), loadDocument(results, seed));
}
