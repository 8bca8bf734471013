import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import firestoreResults from '../bench/results/import-firestore.json' with { type: 'json' };
import stepResults from '../bench/results/import-steps.json' with { type: 'json' };
import { summarise } from '../bench/statistics.ts';
import { BATCH_USERS } from './scaling/modelledImport.ts';
import { DIAGRAM, drawCourses, type ModelledCourse, scalingDocument } from './scaling/scalingDocument.ts';
import { follow, type ModelInputs, strategies } from './scaling/strategies.ts';

// `npm run model [-- --commit-ms 120]`: simulates imports into Firestore, and makes docs/scaling.md of them.

const sizes = [1_000_000, 10_000_000, 100_000_000];
const DRAWN = 10_000_000;
const RAW_IN_FLIGHT = 4;

const { values } = parseArgs({ options: { 'commit-ms': { type: 'string' } } });
const given = z.coerce.number().positive().optional().parse(values['commit-ms']);
const courses: ModelledCourse[] = [];
const inputs = readInputs();
for (const users of sizes) {
  for (const strategy of strategies) courses.push({ strategy, users, course: await follow(strategy, users, inputs) });
}
const docs = new URL('../docs/', import.meta.url);
await writeFile(new URL('scaling.md', docs), `${scalingDocument(courses, DRAWN, inputs)}\n`);
await writeFile(new URL(DIAGRAM, docs), drawCourses(courses, DRAWN));

function readInputs(): ModelInputs {
  const inspectMs = summarise(stepResults.rounds, 'inspectCpu').median / 1_000;
  const userMs = 1_000 / summarise(firestoreResults.rounds, 'importRate').median;
  const rawRate = summarise(firestoreResults.rounds, 'rawWriteRate').median;
  return {
    inspectMs,
    planMs: userMs - inspectMs,
    skipMs: summarise(stepResults.rounds, 'readCpu').median / 1_000,
    commitMs: given ?? (RAW_IN_FLIGHT * BATCH_USERS * 1_000) / rawRate,
  };
}
