import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Figures, Measure } from './measure.ts';

const directory = join(import.meta.dirname, 'results');
/** As many users as the goals of a million are about; any other number is that of the other goals. */
export const MILLION = 1_000_000;

const environmentSchema = z.strictObject({
  date: z.iso.date(),
  processor: z.string(),
  cores: z.number(),
  memoryGiB: z.number(),
  system: z.string(),
  node: z.string(),
  sqlite: z.string(),
  /** The load average of the last minute, at the end. */
  load: z.number(),
});

const resultSchema = z.strictObject({
  measure: z.string(),
  users: z.number(),
  environment: environmentSchema,
  rounds: z.array(z.record(z.string(), z.number())),
});

/** The result of one measure: its figures in every round, and where they were measured. */
export type MeasureResult = z.infer<typeof resultSchema>;

/** Describes this machine and its versions, at present. */
function environment(): MeasureResult['environment'] {
  return {
    date: new Date().toISOString().slice(0, 10),
    processor: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.versions.node,
    sqlite: process.versions.sqlite ?? 'unknown',
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
  };
}

/** Saves the figures of a measure, apart from those of other measures of the same scenario. */
export async function saveResult({ name, figures }: Measure, users: number, rounds: readonly Figures[]): Promise<void> {
  const own = rounds.map((round) =>
    Object.fromEntries(figures.map((figure) => [figure.name, round[figure.name] ?? 0])),
  );
  const result: MeasureResult = { measure: name, users, environment: environment(), rounds: own.map(rounded) };
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, fileName(name, users)), `${JSON.stringify(result, undefined, 2)}\n`);
}

/** Reads all saved results, in the order of their files' names. */
export function readResults(): readonly MeasureResult[] {
  const names = readdirSync(directory).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => resultSchema.parse(JSON.parse(readFileSync(join(directory, name), 'utf8'))));
}

function fileName(measure: string, users: number): string {
  return users === MILLION ? `${measure}-million.json` : `${measure}.json`;
}

function rounded(figures: Figures): Figures {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Number(value.toPrecision(5))]));
}
