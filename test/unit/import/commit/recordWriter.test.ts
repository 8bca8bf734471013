import { describe, expect, it } from 'vitest';
import { Pace } from '../../../../functions/import/commit/pace.ts';
import { RecordWriter } from '../../../../functions/import/commit/recordWriter.ts';
import type { Settled } from '../../../../functions/import/stages.ts';
import { reportedId } from '../../../../shared/organisation/recordPlan.ts';
import type { DocumentStore, Write } from '../../../../shared/store/store.ts';
import { contextOf, project } from '../../../support/import/batches.ts';
import { MemoryStore } from '../../../support/stores/memoryStore.ts';

const BATCHES = 12;
// A project has one claim.
const RECORDS = 249 * BATCHES;

/** Writes projects with names of a length, and returns the largest number of commits in flight at once. */
async function largestInFlight(nameLength: number, allowed: number) {
  const memory = new MemoryStore();
  let [inFlight, largest, commits, mostWrites] = [0, 0, 0, 0];
  const commit = async (writes: readonly Write[]) => {
    inFlight++;
    commits++;
    largest = Math.max(largest, inFlight);
    mostWrites = Math.max(mostWrites, writes.length);
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    inFlight--;
    return memory.commit(writes);
  };
  const counted: DocumentStore = {
    getMany: (keys, fields) => memory.getMany(keys, fields),
    commit,
    transaction: async (work) => {
      const unread = () => expect.unreachable('new records are committed without reading');
      const writes: Write[] = [];
      const write = (added: readonly Write[]) => void writes.push(...added);
      const result = await work({ getMany: unread, write, hold: unread, record: unread, changedAfter: unread }, []);
      await commit(writes);
      return result;
    },
  };
  const pace = new Pace(() => ({ records: 250, writes: 499, inFlight: allowed, snapshotMs: 0, creationMs: () => 0 }));
  const settled: string[] = [];
  const listener = ({ plan }: Settled) => void settled.push(reportedId(plan.record));
  const context = contextOf(memory, 'report');
  const state = { ...context.state, pace };
  await using writer = new RecordWriter({ ...context, state, store: counted }, listener);
  const numbers = Array.from({ length: RECORDS }, (_, index) => index);
  const name = 'n'.repeat(nameLength);
  await writer.add(numbers.map((number) => project(`${number}`, `${name}${number}`)));
  await writer.finish();
  expect(settled).toEqual(numbers.map(String));
  return { largest, commits, mostWrites };
}

describe('a writer of records', () => {
  it.each([
    ['takes fewer, which its limiter delays', 1, 2],
    ['takes as many', 9, 9],
  ])('has several batches in flight if the database %s', async (_when, allowed, expected) => {
    expect(await largestInFlight(10, allowed)).toEqual({ largest: expected, commits: BATCHES, mostWrites: 498 });
  });

  it('has no more than 12 MB in flight, whatever the database accepts', async () => {
    const { largest, commits } = await largestInFlight(5_000, 16);
    expect(commits).toBeGreaterThan(BATCHES);
    expect(largest).toBe(4);
  });
});
