import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { layerViolations, unplacedFiles } from './structure/layers.ts';
import { limits } from './structure/limits.ts';
import { measurePasses } from './structure/passes.ts';
import { documentWords, lineCount, readSources, structureFigures } from './structure/sources.ts';

const root = resolve(import.meta.dirname, '..');
const { values } = parseArgs({ options: { passes: { type: 'boolean', default: false } } });
const product = readSources(root, '{functions,shared,cli,local}/**/*.ts');
const tools = readSources(root, '{tools,bench,build}/**/*.ts');
const passes = await measurePasses(root);
const reached: Readonly<Record<string, number>> = {
  ...structureFigures(product),
  'lines of tests': lineCount(readSources(root, 'test/**/*.ts')),
  'lines of tools, bench and build': lineCount(tools),
  'words of documents': documentWords(root),
  'files that a removal passes': passes.removal.length,
  'files that an import of one user passes': passes.importOfOneUser.length,
  'files that an export to a bucket passes': passes.exportToBucket.length,
};

const rows = limits.map(({ figure, atLeast, atMost }) => {
  const value = Math.round(10 * (reached[figure] ?? Number.NaN)) / 10;
  const isKept = value >= (atLeast ?? 0) && value <= (atMost ?? Number.POSITIVE_INFINITY);
  const limit = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
  return { isKept, line: `${figure.padEnd(40)} ${String(value).padStart(7)}   ${limit}${isKept ? '' : ': FAILED'}` };
});
const sources = [...product, ...tools];
const problems = [
  ...layerViolations(sources).map(({ path, target, reason }) => `${path} imports ${target}: ${reason}`),
  ...unplacedFiles(sources).map((path) => `${path} has no layer: place it in tools/structure/layers.ts`),
];
process.stdout.write(`${[...rows.map(({ line }) => line), ...problems].join('\n')}\n`);
if (values.passes) process.stdout.write(`${JSON.stringify(passes, undefined, 2)}\n`);
if (problems.length > 0 || rows.some(({ isKept }) => !isKept)) process.exitCode = 1;
