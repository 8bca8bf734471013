import { expect, type TestContext } from 'vitest';
import { type FaultName, faultTable, type Place } from './faultTable.ts';

/** A fault of the table that a test has put somewhere a number of times, and seen its outcome. */
interface Survived {
  readonly name: FaultName;
  readonly place: Place;
  readonly times: number;
}

declare module 'vitest' {
  interface TaskMeta {
    /** What the test has survived, for `npm run test:faults`. */
    survived?: Survived[];
  }
}

/** Notes that a fault was survived; a fault that never struck proves nothing, so that is a failure. */
export function survived({ task }: Pick<TestContext, 'task'>, name: FaultName, place: Place, times: number): void {
  expect(times, `times that "${name}" struck`).toBeGreaterThan(0);
  expect(faultTable[name].places).toContain(place);
  task.meta.survived = [...(task.meta.survived ?? []), { name, place, times }];
}
