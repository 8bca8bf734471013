import { describe, expect, it } from 'vitest';
import type { ImportResponse } from '../../../functions/import/contract.ts';
import { importOrganisations, uniqueStamp } from '../../../functions/import/operation.ts';
import type { ImportTask } from '../../../functions/import/tasks.ts';
import type { Store } from '../../../shared/store/store.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { entangledOrganisations } from '../../support/fixtures/entangledOrganisations.ts';
import { linkedOrganisations, staying } from '../../support/fixtures/linkedOrganisations.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { contentsOf, readDatabase } from '../../support/stores/database.ts';
import { openTestStore } from '../../support/stores/stores.ts';

const COUNT = 4;
const never = new AbortController().signal;
const linked = linkedOrganisations.filter(({ orgId }) => ['goes', 'stays'].includes(orgId));
/** An organisation with an error, and a field that nobody knows. */
const faulty = organisation('faulty', {
  humanUsers: [person('faulty-eve')],
  userGrants: [{ userId: 'faulty-eve', projectId: 'nowhere', roleKeys: [] }],
  somethingNew: 1,
});
const orgs = [...entangledOrganisations(11, 30), staying, ...linked, faulty];
const orgIds = [...new Set(orgs.map(({ orgId }) => orgId))];

function run(store: Store, task: ImportTask | undefined, imported = orgs) {
  const bytes = Buffer.from(JSON.stringify({ orgs: imported }));
  const options = { withKeys: true, task };
  return importOrganisations(store, { open: () => inPieces(bytes) }, options, uniqueStamp(new Date()), never);
}

function taskOf(index: number, patienceMs = 60_000): ImportTask {
  return { index, count: COUNT, execution: 'first', startMs: 60_000, patienceMs };
}

/** The sums of the outcomes of all tasks, without those that are zero everywhere. */
function sums(responses: readonly ImportResponse[]): Readonly<Record<string, Readonly<Record<string, number>>>> {
  const outcomes = ['created', 'unchanged', 'failed', 'notCarried'] as const;
  return Object.fromEntries(
    outcomes.map((outcome) => {
      const sum: Record<string, number> = {};
      for (const { summary } of responses)
        for (const [name, count] of Object.entries(summary[outcome]))
          if (count > 0) sum[name] = (sum[name] ?? 0) + count;
      return [outcome, sum];
    }),
  );
}

/** What all tasks together report, in one order. */
function issues(responses: readonly ImportResponse[]): string[] {
  const all = responses.flatMap(({ errors = [], summary }) => [...errors, ...summary.warnings]);
  return [...new Set(all.map((issue) => JSON.stringify(issue)))].sort();
}

describe('an import that tasks divide', () => {
  it('has the outcome of an undivided one, whatever refers to the records of other tasks', {
    timeout: 120_000,
  }, async () => {
    const whole = await openTestStore();
    const undivided = await run(whole, undefined);
    expect(undivided.summary.failed).toEqual({ userGrants: 1 });
    const store = await openTestStore();
    const responses = await Promise.all([0, 1, 2, 3].map((index) => run(store, taskOf(index))));
    for (const { summary } of responses) expect(summary.created.org ?? 0).toBeGreaterThan(0);
    expect(sums(responses)).toEqual(sums([undivided]));
    expect(issues(responses)).toEqual(issues([undivided]));
    expect(contentsOf(await readDatabase(store), orgIds)).toEqual(contentsOf(await readDatabase(whole), orgIds));
    const again = await Promise.all([0, 1, 2, 3].map((index) => run(store, { ...taskOf(index), execution: 'second' })));
    expect(sums(again).created).toEqual({});
    expect(sums(again).unchanged).toEqual(sums([undivided]).created);
  });

  it('is divided among the tasks that have started, and leaves none to one that starts later', {
    timeout: 180_000,
  }, async () => {
    const whole = await openTestStore();
    const undivided = await run(whole, undefined);
    const store = await openTestStore();
    const responses = await Promise.all([0, 2].map((index) => run(store, { ...taskOf(index), startMs: 500 })));
    expect(sums(responses)).toEqual(sums([undivided]));
    for (const [position, { summary }] of responses.entries()) {
      expect(summary.created.org ?? 0).toBeGreaterThan(0);
      expect(summary.warnings).toContainEqual({
        type: 'task',
        id: String(position * 2),
        message: expect.stringMatching(
          /^the import is divided among the 2 of 4 tasks that had started: 0, 2; this task waited \d+s for the others$/,
        ),
      });
    }
    const late = await run(store, taskOf(1));
    expect(sums([late])).toEqual({ created: {}, unchanged: {}, failed: {}, notCarried: {} });
    expect(late.summary.warnings).toContainEqual({
      type: 'task',
      id: '1',
      message:
        'the import is divided among the 2 of 4 tasks that had started: 0, 2; this task came later, and has no share',
    });
    const again = await run(store, taskOf(2));
    expect(sums([again]).unchanged).toEqual(sums(responses.slice(1)).created);
    expect(contentsOf(await readDatabase(store), orgIds)).toEqual(contentsOf(await readDatabase(whole), orgIds));
  });

  it('names the tasks that it waits for in vain, and for how long', { timeout: 180_000 }, async () => {
    const store = await openTestStore();
    const failed = new AbortController();
    const file = { open: () => inPieces(Buffer.from(JSON.stringify({ orgs }))) };
    const broken = {
      open: () => {
        failed.abort(new Error('killed'));
        return file.open();
      },
    };
    const dies = importOrganisations(
      store,
      broken,
      { withKeys: true, task: taskOf(3) },
      uniqueStamp(new Date()),
      failed.signal,
    );
    const settled = await Promise.allSettled([...[0, 1, 2].map((index) => run(store, taskOf(index, 1_000))), dies]);
    for (const result of settled.slice(0, 3))
      expect(result).toMatchObject({
        reason: { code: 'UNAVAILABLE', message: expect.stringMatching(/^waited 1s for task 3 of 4, without a sign/) },
      });
    expect(contentsOf(await readDatabase(store), orgIds).size).toBe(0);
  });

  it('names a task that imports another file, before it writes anything', { timeout: 180_000 }, async () => {
    const store = await openTestStore();
    const files = [orgs, orgs, orgs, orgs.slice(1)];
    const settled = await Promise.allSettled(files.map((file, index) => run(store, taskOf(index, 2_000), file)));
    expect(settled[0]).toMatchObject({
      reason: { code: 'FAILED_PRECONDITION', message: expect.stringMatching(/^task 3 imports another file/) },
    });
    expect(settled.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    expect(contentsOf(await readDatabase(store), orgIds).size).toBe(0);
  });

  it('lets a task that starts again pass the steps that it had completed', { timeout: 180_000 }, async () => {
    const store = await openTestStore();
    const responses = await Promise.all([0, 1, 2, 3].map((index) => run(store, taskOf(index))));
    const again = await run(store, taskOf(2, 1_000));
    expect(sums([again]).unchanged).toEqual(sums(responses.slice(2, 3)).created);
  });
});
