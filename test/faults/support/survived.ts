import { expect, type TestContext } from 'vitest';
import { type FaultName, faultTable, type Place } from './faultTable.ts';

/** A fault of the table that a test has injected a number of times with the expected outcome. */
interface Survived {
  readonly name: FaultName;
  readonly place: Place;
  readonly times: number;
}

declare module 'vitest' {
  interface TaskMeta {
    /** The survived faults of the test, for `npm run test:faults`. */
    survived?: Survived[];
  }
}

/** Records that a fault was survived; fails if the fault never occurred, because that proves nothing. */
export function survived({ task }: Pick<TestContext, 'task'>, name: FaultName, place: Place, times: number): void {
  expect(times, `times that "${name}" struck`).toBeGreaterThan(0);
  expect(faultTable[name].places).toContain(place);
  task.meta.survived = [...(task.meta.survived ?? []), { name, place, times }];
}
