import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchContext } from '../context.ts';
import type { Figures, Scenario } from '../measure.ts';
import { type SampleContent, writeSampleFile } from '../tasks/sample.ts';
import { cpuPerUser, type Location, type Result, rate, runTask, type Task } from '../tasks/task.ts';
import { onStore, type Places, type StoreKind } from './places.ts';

const FEW = 10_000;

/** Imports, imports again and exports one organisation on a store, each beside the raw loop of the same documents. */
export function transfers(kind: StoreKind): Scenario {
  return { prepare: onStore(kind, async (bench, places) => () => measureTransfers(bench, places)) };
}

async function measureTransfers(bench: BenchContext, places: Places): Promise<Figures> {
  const file = await bench.sampleFile(bench.users);
  const run = (name: Task['name'], location: Location) => runTask({ name, users: bench.users, file, location });
  const raw = places.create('raw');
  const rawWrite = await run('raw write', raw);
  const product = places.create('product');
  const imported = await run('import', product);
  const size = product.kind === 'sqlite' ? await directoryBytes(product.directory) : undefined;
  const again = await run('import again', product);
  const rawRead = await run('raw read', raw);
  await places.empty(raw);
  const bare = await run('export without secrets', product);
  const secret = await run('export with secrets', product);
  await places.empty(product);
  return {
    importRatio: rate(imported) / rate(rawWrite),
    importRate: rate(imported),
    rawWriteRate: rate(rawWrite),
    againRatio: rate(again) / rate(imported),
    againRate: rate(again),
    againWritten: perUser(again, 'written'),
    exportRatio: rate(secret) / rate(rawRead),
    exportRate: rate(secret),
    bareExportRate: rate(bare),
    rawReadRate: rate(rawRead),
    ...costs({ import: imported, rawWrite, again, export: secret, rawRead }),
    ...(imported.writtenBytes !== undefined && size !== undefined && written(imported.writtenBytes, size)),
  };
}

/** Returns the documents for each user that a task read or wrote. */
function perUser({ users, documents }: Result, direction: 'read' | 'written'): number {
  if (documents === undefined) throw new Error('the task counts no documents');
  return documents[direction] / users;
}

function costs(results: Readonly<Record<string, Result>>): Figures {
  return Object.fromEntries(Object.entries(results).map(([name, result]) => [`${name}Cpu`, cpuPerUser(result)]));
}

function written(bytes: number, size: number): Figures {
  return { writtenRatio: bytes / size, writtenMegabytes: bytes / 1e6, databaseMegabytes: size / 1e6 };
}

async function directoryBytes(directory: string): Promise<number> {
  const sizes = await Promise.all(
    (await readdir(directory)).map(async (name) => (await stat(join(directory, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Counts the documents of an import, of the same one again, and of an export. */
export function documents(kind: StoreKind): Scenario {
  return {
    // Counts are the same in each round.
    rounds: 1,
    prepare: onStore(kind, async (bench, places) => {
      const file = await bench.sampleFile(FEW);
      return async () => {
        const task = { users: FEW, file, location: places.create('counted') };
        const imported = await runTask({ ...task, name: 'import' });
        const again = await runTask({ ...task, name: 'import again' });
        const exported = await runTask({ ...task, name: 'export with secrets' });
        await places.empty(task.location);
        return {
          importWritten: hundredths(perUser(imported, 'written')),
          importRead: hundredths(perUser(imported, 'read')),
          againWritten: hundredths(perUser(again, 'written')),
          againRead: hundredths(perUser(again, 'read')),
          exportWritten: hundredths(perUser(exported, 'written')),
          exportRead: hundredths(perUser(exported, 'read')),
        };
      };
    }),
  };
}

function hundredths(value: number): number {
  return Math.round(100 * value) / 100;
}

/** Exports as many users of one organisation and of many. */
export function organisations(kind: StoreKind): Scenario {
  return {
    prepare: onStore(kind, async (bench, places) => {
      const fill = async (name: string, content: SampleContent) => {
        const file = await writeSampleFile(bench.path(`${name} ${kind}.json`), content);
        const task = { users: FEW, file, location: places.create(name) };
        await runTask({ ...task, name: 'import' });
        return () => runTask({ ...task, name: 'export with secrets' });
      };
      const exportOne = await fill('one', { users: FEW });
      const exportMany = await fill('many', { users: 10, organisations: FEW / 10 });
      return async () => {
        const one = await exportOne();
        const many = await exportMany();
        return { manyRatio: rate(many) / rate(one), manyRate: rate(many), oneRate: rate(one) };
      };
    }),
  };
}

/** Imports and exports few users and many on the embedded store, for what grows with their number. */
export const scale: Scenario = {
  prepare: onStore('sqlite', async (bench, places) => async () => {
    const few = await transfer(bench, places, FEW);
    const many = await transfer(bench, places, bench.users);
    return {
      importMemoryRatio: many.imported.peakMegabytes / few.imported.peakMegabytes,
      importMemory: many.imported.peakMegabytes,
      exportMemoryRatio: many.exported.peakMegabytes / few.exported.peakMegabytes,
      exportMemory: many.exported.peakMegabytes,
      importCostRatio: cpuPerUser(many.imported) / cpuPerUser(few.imported),
      importCost: cpuPerUser(many.imported),
      exportCostRatio: cpuPerUser(many.exported) / cpuPerUser(few.exported),
      exportCost: cpuPerUser(many.exported),
    };
  }),
};

async function transfer(bench: BenchContext, places: Places, users: number) {
  const task = { users, file: await bench.sampleFile(users), location: places.create('scale') };
  const imported = await runTask({ ...task, name: 'import' });
  const exported = await runTask({ ...task, name: 'export with secrets' });
  await places.empty(task.location);
  return { imported, exported };
}

/** Reads and inspects the export file without a database: the steps of an import before its first write. */
export const steps: Scenario = {
  prepare: onStore('sqlite', async ({ users, sampleFile }, places) => {
    const task = { users, file: await sampleFile(users), location: places.create('none') };
    return async () => {
      const read = await runTask({ ...task, name: 'read' });
      const inspected = await runTask({ ...task, name: 'inspect' });
      return { readCpu: cpuPerUser(read), inspectCpu: cpuPerUser(inspected) };
    };
  }),
};
