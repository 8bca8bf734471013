import { ModelledFirestore } from './modelledFirestore.ts';
import { ModelledImport, type ProcessCosts } from './modelledImport.ts';
import { VirtualClock } from './virtualClock.ts';

/** What the model starts from. */
export interface ModelInputs extends ProcessCosts {
  readonly commitMs: number;
}

/** The course of an import. */
export interface Course {
  readonly users: number;
  readonly hours: number;
  readonly calls: number;
  readonly rejected: number;
  /** The users that are written, by the hours that have passed. */
  readonly points: readonly (readonly [hours: number, users: number])[];
}

/** How the processes of an import follow each other. */
export interface Strategy {
  readonly name: string;
  /** The processes at once, which share the users. */
  readonly tasks: number;
  /** How often each of them may begin. */
  readonly calls: number;
  readonly limitMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The longest timeout of a function's request. */
const CALL_MS = 59 * MINUTE_MS;
/** The longest time of a task of Cloud Run. */
const TASK_MS = 168 * HOUR_MS;
/** A call that gets no further than this many times would never end. */
const MAX_CALLS = 200;

export const strategies: readonly Strategy[] = [
  { name: 'one call', tasks: 1, calls: 1, limitMs: CALL_MS },
  { name: 'repeated calls', tasks: 1, calls: MAX_CALLS, limitMs: CALL_MS },
  { name: 'the job', tasks: 1, calls: 1, limitMs: TASK_MS },
  { name: 'the job, 16 tasks', tasks: 16, calls: 1, limitMs: TASK_MS },
];

/** The moments of a course that are kept. */
const POINT_MS = 2 * MINUTE_MS;

/** Imports users into an empty database. */
export async function follow({ tasks, calls, limitMs }: Strategy, users: number, inputs: ModelInputs): Promise<Course> {
  const clock = new VirtualClock();
  const database = new ModelledFirestore(clock, inputs.commitMs);
  const points: [number, number][] = [[0, 0]];
  let written = 0;
  let begun = 0;
  const onWritten = (batch: number) => {
    written += batch;
    const last = points.at(-1)?.[0] ?? 0;
    if (clock.now() - last * HOUR_MS >= POINT_MS) points.push([clock.now() / HOUR_MS, written]);
  };
  const runTask = async () => {
    const share = users / tasks;
    let done = 0;
    for (let call = 0; call < calls && done < share; call++) {
      begun++;
      const process = new ModelledImport(clock, database, inputs);
      done = await process.run({ inFile: users, written: done, users: share, limitMs, onWritten });
    }
  };
  await clock.run(Promise.all(Array.from({ length: tasks }, runTask)));
  const hours = clock.now() / HOUR_MS;
  points.push([hours, written]);
  return { users: Math.min(written, users), hours, calls: begun, rejected: database.rejected, points };
}
