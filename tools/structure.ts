import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { layerViolations, unplacedFiles } from './structure/layers.ts';
import { measurePasses } from './structure/passes.ts';
import { documentWords, lineCount, readSources, structureFigures } from './structure/sources.ts';

const root = resolve(import.meta.dirname, '..');
const { values } = parseArgs({ options: { figures: { type: 'boolean', default: false } } });
const product = readSources(root, '{functions,shared,cli,local}/**/*.ts');
const tools = readSources(root, '{tools,bench,build}/**/*.ts');
const sources = [...product, ...tools];
const problems = [
  ...layerViolations(sources).map(({ path, target, reason }) => `${path} imports ${target}: ${reason}`),
  ...unplacedFiles(sources).map((path) => `${path} has no layer: place it in tools/structure/layers.ts`),
];
if (problems.length > 0) {
  process.stdout.write(`${problems.join('\n')}\n`);
  process.exitCode = 1;
}
if (values.figures) await printFigures();

/** Prints the size of the code, and the files that three requests pass. No figure has a limit. */
async function printFigures(): Promise<void> {
  const passes = await measurePasses(root);
  const figures: Readonly<Record<string, number>> = {
    ...structureFigures(product),
    'lines of tests': lineCount(readSources(root, 'test/**/*.ts')),
    'lines of tools, bench and build': lineCount(tools),
    'words of documents': documentWords(root),
    'files that a removal passes': passes.removal.length,
    'files that an import of one user passes': passes.importOfOneUser.length,
    'files that an export to a bucket passes': passes.exportToBucket.length,
  };
  const lines = Object.entries(figures).map(
    ([figure, value]) => `${figure.padEnd(40)} ${String(Math.round(10 * value) / 10).padStart(7)}`,
  );
  process.stdout.write(`${lines.join('\n')}\n${JSON.stringify(passes, undefined, 2)}\n`);
}
