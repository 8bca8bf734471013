import type { BenchContext } from '../context.ts';
import type { Scenario } from '../measure.ts';
import { cpuPerUser, type Result } from '../tasks/process.ts';
import { runTask } from '../tasks/runTask.ts';
import { openPlaces, type Places } from './places.ts';

const FEW = 10_000;

/** Imports and exports few users and many on the embedded store, for what grows with their number. */
export const scale: Scenario = {
  prepare: async (bench) => {
    const places = await openPlaces(bench, 'sqlite');
    if ('missing' in places) return places;
    return async () => {
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
    };
  },
};

async function transfer(
  bench: BenchContext,
  places: Places,
  users: number,
): Promise<{ imported: Result; exported: Result }> {
  const task = { users, file: await bench.sampleFile(users), location: places.create('scale') };
  const imported = await runTask({ ...task, name: 'import' });
  const exported = await runTask({ ...task, name: 'export with secrets' });
  await places.empty(task.location);
  return { imported, exported };
}
