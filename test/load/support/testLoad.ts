import { expect, type TestContext } from 'vitest';
import { randomOf } from '../../faults/support/random.ts';
import { repetitions } from '../../support/repetitions.ts';
import type { LoadResult } from './loadResult.ts';
import { runLoad } from './loadRun.ts';
import { kindsTable, resourcesTable } from './report.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** What a run under load has shown, for the report. */
    load?: LoadResult;
  }
}

/** LOAD_SECONDS sets another duration. */
const SECONDS = Number(process.env.LOAD_SECONDS ?? repetitions({ few: 60, many: 900 }));

/** Puts a server of a new instance under load, prints what it shows, and expects no problem. */
export async function testLoad({ task, skip }: TestContext, store: string, database: readonly string[]): Promise<void> {
  skip(process.platform !== 'linux', 'only Linux lists the connections of a process');
  const result = await runLoad(store, database, randomOf(`load on ${store}`), SECONDS);
  task.meta.load = result;
  process.stderr.write(`\n${store}, ${SECONDS} s\n${kindsTable(result)}\n\n${resourcesTable(result)}\n`);
  expect(result.problems).toEqual([]);
}
