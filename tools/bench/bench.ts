import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { type Figure, figuresTable } from './figures.ts';
import { buildFunctions, measureColdStarts } from './measureColdStarts.ts';
import { measureInstance } from './measureInstance.ts';

// The program of `npm run bench`. Prints a table that compares the service with the limits of this machine.

const optionsSchema = z.object({
  // Removals over 32 connections need at least this number of users.
  users: z.coerce.number().int().min(200).default(20_000),
  rounds: z.coerce.number().int().min(1).default(3),
});

const { users, rounds } = readOptions();
if (process.platform !== 'linux') fail('npm run bench needs Linux: it reads the peak memory of processes from /proc');
await using resources = new AsyncDisposableStack();
const directory = await mkdtemp(join(tmpdir(), 'identity-bench-'));
resources.defer(() => rm(directory, { recursive: true }));
await buildFunctions(resources);
const measured: Figure[][] = [];
for (let round = 1; round <= rounds; round++) {
  measured.push([...(await measureInstance(join(directory, String(round)), users)), ...(await measureColdStarts())]);
}
process.stdout.write(`${figuresTable(measured)}\n\n${environment()}\n`);

function readOptions(): z.infer<typeof optionsSchema> {
  const { values } = parseArgs({ options: { users: { type: 'string' }, rounds: { type: 'string' } } });
  const { data, error } = optionsSchema.safeParse(values);
  return data ?? fail(`${z.prettifyError(error)}\nusage: npm run bench -- [--users NUMBER] [--rounds NUMBER]`);
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

/** Describes the run: its size, the machine and its load, and the versions. */
function environment(): string {
  const { node, sqlite } = process.versions;
  const memory = Math.round(totalmem() / 2 ** 30);
  return [
    `${users.toLocaleString('en')} users, ${rounds === 1 ? '1 round' : `${rounds} rounds`}, ${new Date().toISOString().slice(0, 10)}`,
    `${availableParallelism()} cores of ${cpus()[0]?.model ?? 'unknown'}, ${memory} GiB of memory`,
    `load average ${loadavg()[0]?.toFixed(1)} at the end; Node ${node}, SQLite ${sqlite}`,
  ].join('; ');
}
