import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { exportParts, type PartsExport } from '../../../cli/parts/exportParts.ts';
import type { PartSource } from '../../../cli/places/place.ts';
import { exportRequest } from '../../../functions/export/contract.ts';
import { exportOrganisations } from '../../../functions/export/operation.ts';
import { divideOrganisations } from '../../../functions/export/selection.ts';
import type { Store } from '../../../shared/store/store.ts';
import { readRequest } from '../../../shared/wire/requestMessage.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const never = new AbortController().signal;
const silent = { records: 0, onAbandoned: () => {} };
const URI = 'gs://exports/north.json';
const monday = '2024-01-01T00:00:00.000Z';
const tuesday = '2024-01-02T00:00:00.000Z';

const options = { ...readRequest(exportRequest, {}), timeoutMs: undefined };

type Source = PartsExport['source'];

/** A database that keeps some moments, as point-in-time recovery does. */
function sourceOf(name: string, store: Store, present = monday, kept = [monday, tuesday]): Source {
  async function openParts(_: unknown, readTime = new Date(present)): Promise<PartSource | undefined> {
    if (!kept.includes(readTime.toISOString())) return undefined;
    const snapshot = await store.snapshot();
    const state = { ...snapshot, readTime };
    const origin = { instance: name, defaultOrgId: 'org-0' };
    return {
      readTime,
      divide: (count) => divideOrganisations(state, [], count),
      export: (range) => exportOrganisations(state, { ...options, range }, origin, never),
      [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
    };
  }
  return { name, openParts };
}

/** A source that runs `work` when an export opens its state, after the look for a finished one. */
function interrupting(source: Source, work: () => Promise<unknown>): Source {
  let isFirst = true;
  return {
    ...source,
    openParts: async (...args) => {
      if (isFirst) {
        isFirst = false;
        await work();
      }
      return source.openParts(...args);
    },
  };
}

function task(execution: string, index = 0, count = 1): PartsExport['task'] {
  return { index, count, execution };
}

const byHand = task('');

describe('an export in parts to a finished one', () => {
  let north: Source;
  let store: Store;
  let run: (
    source: Source,
    task: PartsExport['task'],
    changed?: Partial<PartsExport>,
  ) => ReturnType<typeof exportParts>;

  beforeEach(async () => {
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    vi.stubEnv('STORAGE_EMULATOR_HOST', bucket.url);
    onTestFinished(() => void vi.unstubAllEnvs());
    store = await openTestStore(sqlite);
    const instance = await testInstance(store, 'north');
    const orgs = ['org-1', 'org-2'].map((orgId) => organisation(orgId, { humanUsers: [person(`of-${orgId}`)] }));
    await instance.import({ data_orgs: { orgs } });
    north = sourceOf('firestore:p/north', store);
    const target = { bucket: 'exports', path: 'north.json', account: bucket.both };
    run = (source, by, changed) =>
      exportParts({ source, target, options, count: 2, task: by, ...changed }, silent, never);
  });

  const finishedError = (readTime: string) => ({
    code: 'ALREADY_EXISTS',
    message: `${URI} is a finished export as of ${readTime} and is never overwritten: choose another path`,
  });
  const otherError = {
    code: 'FAILED_PRECONDITION',
    message: `${URI}.plan-0001.json belongs to an export of another source or with other options: choose another path`,
  };

  it.each(['', 'job-1'])(
    'is refused for another source and with other options, by execution "%s"',
    async (execution) => {
      const by = task(execution);
      expect(await run(north, by)).toMatchObject({ missing: 0, readTime: monday });
      await expect(run(sourceOf('firestore:p/south', store), by)).rejects.toMatchObject(otherError);
      await expect(run(north, by, { count: 3 })).rejects.toMatchObject(otherError);
      await expect(run(north, by, { options: { ...options, withKeys: true } })).rejects.toMatchObject(otherError);
    },
  );

  it('is refused with its moment to another run, and to each by hand', async () => {
    await run(north, byHand);
    await expect(run(sourceOf(north.name, store, tuesday), byHand)).rejects.toMatchObject(finishedError(monday));
    await expect(run(north, task('job-1'))).rejects.toMatchObject(finishedError(monday));
  });

  it('is complete to each task of the execution that made it', async () => {
    expect(await run(north, task('job-1', 0, 2))).toMatchObject({ written: 1, missing: 1 });
    expect(await run(north, task('job-1', 1, 2))).toMatchObject({ written: 1, missing: 0 });
    const again = { written: 0, kept: 0, missing: 0, readTime: monday, manifest: { counts: { orgs: 3 } } };
    for (const index of [0, 1]) expect(await run(north, task('job-1', index, 2))).toMatchObject(again);
    await expect(run(north, task('job-2', 1, 2))).rejects.toMatchObject(finishedError(monday));
  });

  it('is complete to the execution that began it and to the one that finished it', async () => {
    expect(await run(north, task('job-1', 0, 2))).toMatchObject({ missing: 1 });
    expect(await run(sourceOf(north.name, store, tuesday), task('job-2', 1, 2))).toMatchObject({ readTime: monday });
    for (const name of ['job-1', 'job-2']) expect(await run(north, task(name, 0, 2))).toMatchObject({ missing: 0 });
    await expect(run(north, task('job-3'))).rejects.toMatchObject(finishedError(monday));
  });

  it('is complete to the execution that began it anew', async () => {
    await run(north, task('job-1', 0, 2));
    const later = sourceOf(north.name, store, tuesday, [tuesday]);
    expect(await run(later, task('job-2', 0, 2))).toMatchObject({ missing: 1, abandoned: [monday] });
    expect(await run(later, task('job-3', 1, 2))).toMatchObject({ missing: 0, readTime: tuesday });
    expect(await run(later, task('job-2', 0, 2))).toMatchObject({ missing: 0, readTime: tuesday });
    await expect(run(later, task('job-1', 0, 2))).rejects.toMatchObject(finishedError(tuesday));
  });

  it('is complete to a run whose moment it has, if it appeared meanwhile', async () => {
    const racing = interrupting(north, () => run(north, byHand));
    expect(await run(racing, byHand)).toMatchObject({ written: 0, kept: 2, missing: 0, readTime: monday });
  });
});
