import { parseArgs } from 'node:util';
import { z } from 'zod';
import { createContext } from './context.ts';
import { measureRounds } from './measure.ts';
import { measures, measuresOfMillion } from './measures.ts';
import { MILLION, saveResult } from './results.ts';
import { fails, figureLine, summarise } from './verdict.ts';

// `npm run bench`: measures the rows of bench/measures.ts, prints them, and exits with 1 if a ratio misses its goal.

const USERS = 100_000;
const usage =
  'npm run bench -- [--users NUMBER] [--only NAME]... [--rounds NUMBER] [--write], or npm run bench:million';
const names = measures.map(({ name }) => name);
const optionsSchema = z.object({
  users: z.coerce.number().int().positive().optional(),
  only: z.array(z.enum(names)).optional(),
  rounds: z.coerce.number().int().positive().optional(),
  million: z.boolean(),
  write: z.boolean(),
});

const options = readOptions();
const users = options.users ?? (options.million ? MILLION : USERS);
const only: readonly string[] = options.only ?? (options.million ? measuresOfMillion : names);
const chosen = measures.filter(({ name }) => only.includes(name));
await using resources = new AsyncDisposableStack();
const bench = await createContext(users, resources);
print(`${users.toLocaleString('en')} users, Node ${process.version}; each figure is the median of all rounds\n`);
const failed: string[] = [];
for (const scenario of new Set(chosen.map((measure) => measure.scenario))) {
  const rows = chosen.filter((measure) => measure.scenario === scenario);
  const rounds = await measureRounds(scenario, bench, options.rounds);
  if ('missing' in rounds) {
    for (const { name } of rows) print(`${name} is skipped: ${rounds.missing}`);
    continue;
  }
  for (const measure of rows) {
    // Some figures exist on Linux only.
    if (measure.figures.some(({ name }) => rounds.every((figures) => figures[name] === undefined))) {
      print(`${measure.name} is skipped: this system does not count it`);
      continue;
    }
    for (const figure of measure.figures) {
      const summary = summarise(rounds, figure.name);
      print(figureLine(measure, figure, summary));
      if (fails(figure, summary)) failed.push(`${measure.name} (${figure.title})`);
    }
    if (options.write) await saveResult(measure, users, rounds);
  }
}
if (failed.length > 0) {
  print(`\nbelow the goal: ${failed.join(', ')}`);
  process.exitCode = 1;
}

function readOptions(): z.infer<typeof optionsSchema> {
  const { values } = parseArgs({
    options: {
      users: { type: 'string' },
      only: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      million: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  const { data, error } = optionsSchema.safeParse(values);
  if (data !== undefined) return data;
  process.stderr.write(`${z.prettifyError(error)}\nusage: ${usage}\n`);
  process.exit(2);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
