import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { z } from 'zod';
import { temporaryKeyring } from '../shared/store/secrets/keyring.ts';
import { emptyEmulator, startEmulator } from '../tools/firestoreEmulator.ts';
import type { Task } from './measurement.ts';
import { type Result, resultSchema } from './process.ts';
import { writeSampleFile } from './sampleUsers.ts';
import { type Row, ratio, tableHead, tableLine } from './table.ts';

/** The product's targets: the least share of the raw loop's users per second, and the limit of its memory. */
const TARGET_SHARE = 0.5;
const TARGET_MEGABYTES = 400;
const WARM_UP_USERS = 20_000;
const EMULATOR_HEAP = '6g';

// Cloud Functions use Firestore. V8 collects garbage later on a machine with more memory, so the heap gets the limit that
// it has in a function of 1 GB; otherwise the result would depend on the machine.
const nodeOptions = { sqlite: [], firestore: ['--max-old-space-size=512'] };

const usage = 'npm run bench -- [--users NUMBER] [--store sqlite|firestore]';
const optionsSchema = z.object({
  users: z.coerce.number().int().positive().default(100_000),
  store: z.enum(['sqlite', 'firestore']).optional(),
});

const { users, store } = readOptions();
await using resources = new AsyncDisposableStack();
const directory = await mkdtemp(join(tmpdir(), 'identity-bench-'));
resources.defer(() => rm(directory, { recursive: true }));
const file = join(directory, 'organisations.json');
await writeSampleFile(file, users);
const megabytes = (await stat(file)).size / 1e6;
print(`${users.toLocaleString('en')} users in ${megabytes.toFixed(0)} MB, Node ${process.version}\n\n${tableHead}`);
await measureReading();
if (store !== 'firestore') await measureSqlite();
if (store !== 'sqlite') await measureFirestore();

async function measureReading(): Promise<void> {
  const location = { kind: 'sqlite', directory } as const;
  await measure('none', 'read', location);
  await measure('none', 'inspect', location);
}

async function measureSqlite(): Promise<void> {
  const place = (name: string) => ({ kind: 'sqlite', directory: join(directory, name) }) as const;
  await measureStore(place('raw'), place('product'));
}

async function measureFirestore(): Promise<void> {
  const emulator = await startEmulator(EMULATOR_HEAP);
  if ('missing' in emulator) {
    print(`Firestore is skipped: ${emulator.missing}`);
    return;
  }
  await using running = emulator;
  process.env.FIRESTORE_EMULATOR_HOST = running.address;
  const masterKey = temporaryKeyring().newest().text;
  const place = (projectId: string) => ({ kind: 'firestore', projectId, databaseId: '(default)', masterKey }) as const;
  // The emulator's first seconds are several times slower than the rest.
  const warmUp: Task = { name: 'raw write', users: WARM_UP_USERS, file, location: place('warm-up') };
  await runInProcess(warmUp);
  await runInProcess({ ...warmUp, name: 'raw read' });
  await emptyEmulator(running.address, 'warm-up');
  await measureStore(place('raw'), place('product'), () => emptyEmulator(running.address, 'raw'));
}

/** Measures the raw loop, then the product; `emptyRaw` runs as soon as the raw loop's database is no longer needed. */
async function measureStore(raw: Task['location'], product: Task['location'], emptyRaw = async () => {}) {
  const write = await measure(raw.kind, 'raw write', raw);
  const read = await measure(raw.kind, 'raw read', raw);
  await emptyRaw();
  await measure(product.kind, 'import', product, write);
  await measure(product.kind, 'import again', product);
  await measure(product.kind, 'export', product, read);
}

async function measure(label: string, name: Task['name'], location: Task['location'], ceiling?: Result) {
  const result = await runInProcess({ name, users, file, location });
  const row: Row = { store: label, name, result, ...(ceiling && { ceiling }) };
  const missed = ceiling !== undefined && misses(result, ceiling);
  print(`${tableLine(row)}${missed ? '  target missed' : ''}`);
  if (missed) process.exitCode = 1;
  return result;
}

function misses(result: Result, ceiling: Result): boolean {
  return ratio(result, ceiling) < TARGET_SHARE || result.peakMegabytes >= TARGET_MEGABYTES;
}

function readOptions(): z.infer<typeof optionsSchema> {
  const { values } = parseArgs({ options: { users: { type: 'string' }, store: { type: 'string' } } });
  const { data, error } = optionsSchema.safeParse(values);
  if (data !== undefined) return data;
  process.stderr.write(`${z.prettifyError(error)}\nusage: ${usage}\n`);
  process.exit(2);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs a measurement in a process of its own, so that the peak memory is its own. */
async function runInProcess(task: Task): Promise<Result> {
  const program = fileURLToPath(new URL('./measurement.ts', import.meta.url));
  const options = nodeOptions[task.location.kind];
  const { stdout } = await promisify(execFile)(process.execPath, [...options, program, JSON.stringify(task)]);
  return resultSchema.parse(JSON.parse(stdout));
}
