import { expect, it } from 'vitest';
import { randomOf } from '../faults/support/random.ts';
import { describeDatabases } from '../support/instances/commandInstance.ts';
import { repetitions } from '../support/repetitions.ts';
import type { LoadResult } from './support/loadResult.ts';
import { runLoad } from './support/loadRun.ts';
import { kindsTable, resourcesTable } from './support/report.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** What a run under load has shown, for the report. */
    load?: LoadResult;
  }
}

const SECONDS = repetitions({ few: 60, many: 900 });

describeDatabases('a server under mixed load', (newDatabase) => {
  it('answers every request as asked, and neither grows nor leaves anything open', async ({ task, skip }) => {
    skip(process.platform !== 'linux', 'only Linux lists the connections of a process');
    const database = await newDatabase();
    const store = database[0] === '--data' ? 'SQLite' : 'Firestore';
    const result = await runLoad(store, database, randomOf(`load on ${store}`), SECONDS);
    task.meta.load = result;
    process.stderr.write(`\n${store}, ${SECONDS} s\n${kindsTable(result)}\n\n${resourcesTable(result)}\n`);
    expect(result.problems).toEqual([]);
  });
});
