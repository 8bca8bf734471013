import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchContext } from '../context.ts';
import type { Figures, Scenario } from '../measure.ts';
import { cpuPerUser, type Result, rate } from '../tasks/process.ts';
import { runTask } from '../tasks/runTask.ts';
import type { Location, Task } from '../tasks/task.ts';
import { openPlaces, type Places, type StoreKind } from './places.ts';

/** Imports, imports again and exports one organisation on a store, each beside the raw loop of the same documents. */
export function transfers(kind: StoreKind): Scenario {
  return {
    prepare: async (bench) => {
      const places = await openPlaces(bench, kind);
      return 'missing' in places ? places : () => measureTransfers(bench, places);
    },
  };
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
export function perUser({ users, documents }: Result, direction: 'read' | 'written'): number {
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
