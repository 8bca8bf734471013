import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { structureFigures } from './structure/figures.ts';
import { measurePasses } from './structure/passes.ts';
import { renderReport } from './structure/report.ts';
import { readSources } from './structure/sources.ts';

const root = resolve(import.meta.dirname, '..');
const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const figures = structureFigures(await readSources(root));
const passes = await measurePasses(root);
const report = values.json
  ? `${JSON.stringify({ ...figures, passes }, undefined, 2)}\n`
  : renderReport(figures, passes);
process.stdout.write(report);
const { violations, unplaced, cycles } = figures;
if (violations.length + unplaced.length + cycles.length > 0) process.exitCode = 1;
