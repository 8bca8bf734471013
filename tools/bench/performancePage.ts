import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../program.ts';
import { type Figure, figuresTable, speedsPlot } from './figures.ts';

const PAGE = join(root, 'docs/performance.md');
const PLOT = join(root, 'docs/performance.svg');
const PART = /(<!-- measured: (\w+) -->\n\n).*?(\n\n<!-- end -->)/gs;

/** The measurements of a run of the benchmarks. Each list contains the figures of each round. */
export interface MeasuredRun {
  readonly transfers: readonly (readonly Figure[])[];
  readonly starts: readonly (readonly Figure[])[];
  readonly run: string;
}

export async function writePage({ transfers, starts, run }: MeasuredRun): Promise<void> {
  const parts = new Map([
    ['speeds', `${figuresTable(transfers)}\n\n${run}.`],
    ['starts', figuresTable(starts)],
  ]);
  const text = await readFile(PAGE, 'utf8');
  const written = text.replace(PART, (_part, start: string, name: string, end: string) => {
    const content = parts.get(name);
    if (content === undefined) throw new Error(`${PAGE} has a part ${name} that the benchmark does not measure`);
    return `${start}${content}${end}`;
  });
  await writeFile(PAGE, written);
  await writeFile(PLOT, speedsPlot(transfers));
}
