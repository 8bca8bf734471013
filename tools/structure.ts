import { resolve } from 'node:path';
import { layerViolations, unplacedFiles } from './structure/layers.ts';
import { readSources } from './structure/sources.ts';

// The program of `npm run structure`. Fails if a file imports what its layer forbids.

const sources = readSources(resolve(import.meta.dirname, '..'), '{functions,shared,cli,local,tools}/**/*.ts');
const problems = [
  ...layerViolations(sources).map(({ path, target, reason }) => `${path} imports ${target}: ${reason}`),
  ...unplacedFiles(sources).map((path) => `${path} has no layer: place it in tools/structure/layers.ts`),
];
if (problems.length > 0) {
  process.stdout.write(`${problems.join('\n')}\n`);
  process.exitCode = 1;
}
