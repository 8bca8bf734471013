import type { Scenario } from '../measure.ts';
import { runTask } from '../tasks/runTask.ts';
import { openPlaces, type StoreKind } from './places.ts';
import { perUser } from './transfers.ts';

const USERS = 10_000;

/** Counts the documents of an import, of the same one again, and of an export. */
export function documents(kind: StoreKind): Scenario {
  return {
    // Counts are the same in each round.
    rounds: 1,
    prepare: async (bench) => {
      const places = await openPlaces(bench, kind);
      if ('missing' in places) return places;
      const file = await bench.sampleFile(USERS);
      return async () => {
        const task = { users: USERS, file, location: places.create('counted') };
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
    },
  };
}

function hundredths(value: number): number {
  return Math.round(100 * value) / 100;
}
