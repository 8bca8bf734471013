import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { startEmulator } from '../firestoreEmulator.ts';
import { type Figure, figuresTable } from './figures.ts';
import { buildFunctions, measureColdStarts } from './measureColdStarts.ts';
import { measureFirestore } from './measureFirestore.ts';
import { measureInstance } from './measureInstance.ts';
import { writePage } from './performancePage.ts';

// The program of `npm run bench`. Prints tables with the speeds of the service, and for comparison, the speeds that
// this machine reaches without the service.

const optionsSchema = z.object({
  // Measuring removals over 32 connections needs at least 200 users.
  users: z.coerce.number().int().min(200).default(20_000),
  rounds: z.coerce.number().int().min(1).default(3),
  page: z.boolean().default(false),
});
/** On the emulator, only this share of the users is measured, because the emulator is slow. */
const FIRESTORE_SHARE = 0.1;
const EMULATOR_HEAP = '2g';

const { users, rounds, page } = readOptions();
if (process.platform !== 'linux') fail('npm run bench needs Linux: it reads the peak memory of processes from /proc');
await using resources = new AsyncDisposableStack();
const directory = await mkdtemp(join(tmpdir(), 'identity-bench-'));
resources.defer(() => rm(directory, { recursive: true }));
await buildFunctions(resources);
const emulator = await startEmulator(EMULATOR_HEAP, true);
if (!('missing' in emulator)) resources.use(emulator);
const transfers: Figure[][] = [];
const starts: Figure[][] = [];
for (let round = 1; round <= rounds; round++) {
  const instance = await measureInstance(join(directory, String(round)), users);
  const onFirestore =
    'missing' in emulator ? [] : await measureFirestore(emulator, directory, Math.ceil(users * FIRESTORE_SHARE));
  transfers.push([...instance, ...onFirestore]);
  starts.push(await measureColdStarts());
}
const run = environment();
process.stdout.write(`${figuresTable(transfers)}\n\n${figuresTable(starts)}\n\n${run}\n`);
if (page) await writePage({ transfers, starts, run });

function readOptions(): z.infer<typeof optionsSchema> {
  const options = { users: { type: 'string' }, rounds: { type: 'string' }, page: { type: 'boolean' } } as const;
  const { data, error } = optionsSchema.safeParse(parseArgs({ options }).values);
  const usage = 'usage: npm run bench -- [--users NUMBER] [--rounds NUMBER] [--page]';
  return data ?? fail(`${z.prettifyError(error)}\n${usage}`);
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function environment(): string {
  const { node, sqlite } = process.versions;
  const memory = Math.round(totalmem() / 2 ** 30);
  return [
    `${users.toLocaleString('en')} users, ${rounds === 1 ? '1 round' : `${rounds} rounds`}, ${new Date().toISOString().slice(0, 10)}`,
    `${availableParallelism()} cores of ${cpus()[0]?.model ?? 'unknown'}, ${memory} GiB of memory`,
    `load average ${loadavg()[0]?.toFixed(1)} at the end; Node ${node}, SQLite ${sqlite}`,
    ...('missing' in emulator ? [`without Firestore: ${emulator.missing}`] : []),
  ].join('; ');
}
