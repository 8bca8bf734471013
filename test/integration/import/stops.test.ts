import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { importOrganisations } from '../../../functions/import/operation.ts';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import { instanceLockLost, storeUnavailable } from '../../../shared/errors/storeErrors.ts';
import type { Store } from '../../../shared/store/store.ts';
import { describeWithFirestore } from '../../support/emulators/withFirestore.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { firestore, openTestStore } from '../../support/stores/stores.ts';
import { watchedStore, withSmallCommits } from '../../support/stores/watchedStore.ts';

const people = (count: number) => Array.from({ length: count }, (_, index) => person(`P${index}`));
const STAMP = '2026-01-01T00:00:00.000123Z';

/** A store whose commits are slow, except the commit that fails at once. `ended` settles with the last commit. */
function slowStore(store: Store, failing: number) {
  const commits: Promise<unknown>[] = [];
  let committed = 0;
  const start = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const slowly = async () => {
      await setTimeout(100);
      const result = await work();
      committed++;
      return result;
    };
    const fails = commits.length + 1 === failing;
    const result = fails ? Promise.reject(storeUnavailable({}, { cause: new Error('injected') })) : slowly();
    commits.push(result);
    return result;
  };
  return {
    slow: withSmallCommits(store, (inner) => ({
      commit: (writes) => start(() => inner.commit(writes)),
      transaction: (work, until) => start(() => inner.transaction(work, until)),
    })),
    committed: () => committed,
    ended: () => Promise.allSettled(commits),
  };
}

describe('an import that fails while other batches are in flight', () => {
  it('responds after their last commit, and nothing is committed afterwards', async () => {
    const store = await openTestStore();
    const { slow, committed, ended } = slowStore(store, 3);
    const instance = await testInstance(store, 'test', { store: slow });
    const { status } = await instance.refusedImport({
      data_orgs: { orgs: [organisation('O', { humanUsers: people(2_000) })] },
    });
    const answered = committed();
    await ended();
    expect({ status, committed: committed() }).toEqual({ status: 503, committed: answered });
    expect(answered).toBeGreaterThan(1);
  });

  it('responds after their last commit if the file cannot be read further, too', async () => {
    const store = await openTestStore();
    const { slow, committed, ended } = slowStore(store, 0);
    const bytes = Buffer.from(JSON.stringify({ orgs: [organisation('O', { humanUsers: people(2_000) })] }));
    let readings = 0;
    async function* open() {
      readings++;
      for await (const [number, piece] of enumerate(inPieces(bytes, bytes.length / 4))) {
        if (readings === 2 && number === 2) throw storeUnavailable({}, { cause: new Error('injected') });
        yield piece;
      }
    }
    const options = { withKeys: false };
    const signal = new AbortController().signal;
    const failed = await importOrganisations(slow, { open }, options, STAMP, signal).catch((reason: unknown) => reason);
    const answered = committed();
    await ended();
    expect({ failed, committed: committed() }).toEqual({ failed: expect.any(IdentityError), committed: answered });
  });
});

describe('an import whose timeout expires among its organisations', () => {
  it('ends there, and reports the number of imported organisations', async () => {
    const store = await openTestStore();
    const controller = new AbortController();
    const watched = watchedStore(store, () => controller.abort(deadlineExceeded()));
    const orgs = Array.from({ length: 2_000 }, (_, index) => organisation(`O${index}`));
    const source = { open: () => inPieces(Buffer.from(JSON.stringify({ orgs }))) };
    const failed = await importOrganisations(watched, source, { withKeys: false }, STAMP, controller.signal).catch(
      (reason: unknown) => reason,
    );
    const written = (await readDatabase(store)).get('organisations')?.length ?? 0;
    expect(failed).toMatchObject({ code: 'DEADLINE_EXCEEDED', details: [{ written: { org: written } }] });
    expect(written).toBeLessThanOrEqual(1_500);
    const { summary } = await (await testInstance(store)).import({ data_orgs: { orgs } });
    expect(summary).toMatchObject({ unchanged: { org: written }, created: { org: 2_000 - written } });
  });
});

describeWithFirestore('an import that another process has overtaken', () => {
  it('ends as soon as a renewal fails, with its progress, and writes nothing more', async () => {
    const store = await openTestStore(firestore);
    const lost = new AbortController();
    const watched = watchedStore(store, (writes) => {
      if (writes.some(({ key }) => key.collection === 'users')) lost.abort(instanceLockLost());
    });
    const lock: Store['lock'] = {
      ...store.lock,
      take: async (request) => {
        const held = await store.lock.take(request);
        return { ...held, fence: held.fence && { ...held.fence, lost: lost.signal } };
      },
    };
    const instance = await testInstance(store, 'test', { store: withSmallCommits(watched, () => ({ lock })) });
    const orgs = [organisation('O', { humanUsers: people(2_000) })];
    const { status, body } = await instance.refusedImport({ data_orgs: { orgs } });
    const written = (await readDatabase(store)).get('users')?.length ?? 0;
    expect(status).toBe(503);
    // The first service user is not from the file.
    const progress = { written: { org: 1, humanUsers: written - 1 }, resumable: true };
    expect(body).toMatchObject({ details: [progress, { reason: 'INSTANCE_LOCK_LOST' }] });
    expect(written).toBeLessThan(1_000);
  });
});

describe('an import of many organisations', () => {
  it('lets other work of the process run between its batches', async () => {
    const store = await openTestStore();
    const turns: number[] = [];
    let turn = 0;
    const watched = watchedStore(store, () => turns.push(turn));
    const instance = await testInstance(store, 'test', { store: watched });
    let runs = true;
    const ticking = (async () => {
      for (; runs; turn++) await setImmediate();
    })();
    const orgs = Array.from({ length: 3_000 }, (_, index) => organisation(`O${index}`));
    await instance.import({ data_orgs: { orgs } });
    runs = false;
    await ticking;
    expect(turns.length).toBeGreaterThanOrEqual(12);
    const atOnce = turns.map((one) => turns.filter((other) => other === one).length);
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(4);
  });
});

async function* enumerate<Item>(source: AsyncIterable<Item>): AsyncGenerator<[number, Item]> {
  let number = 0;
  for await (const item of source) yield [number++, item];
}
