import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { storeContention } from '../../../shared/errors/storeErrors.ts';
import { type TransactionDatabase, transact } from '../../../shared/store/transaction.ts';
import { createUser, userKey } from '../../support/stores/documents.ts';

/** A database that aborts each commit until a later version of the document has been read. */
function abortingDatabase(changes: number): TransactionDatabase & { readonly commits: string[] } {
  let version = 0;
  let read = 0;
  const commits: string[] = [];
  return {
    commits,
    seal: async (writes) => writes,
    read: async (keys) => {
      read = ++version;
      return { documents: keys.map(({ id }) => ({ id })), versions: keys.map(() => String(read)) };
    },
    commit: async (_writes, expected) => {
      commits.push([...expected.values()].map((held) => held.version).join());
      if (read <= changes) throw storeContention();
    },
  };
}

describe('a transaction whose commit the database aborts', () => {
  const { signal } = new AbortController();
  const write = (database: TransactionDatabase, until: AbortSignal) =>
    transact<number>(
      database,
      async (transaction, earlier) => {
        await transaction.getMany([userKey('a')]);
        transaction.write([createUser('b')]);
        transaction.hold([userKey('a')]);
        return earlier.length + 1;
      },
      until,
    );

  it('reads and decides again, without an error', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    const database = abortingDatabase(15);
    expect(await write(database, signal)).toBe(16);
    expect(database.commits).toEqual(Array.from({ length: 16 }, (_, index) => String(index + 1)));
  });

  it('ends with the reason of its deadline', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    const controller = new AbortController();
    const reason = new Error('the deadline');
    const { commit, ...database } = abortingDatabase(Number.POSITIVE_INFINITY);
    let attempts = 0;
    const ending: TransactionDatabase['commit'] = (...call) => {
      if (++attempts === 20) controller.abort(reason);
      return commit(...call);
    };
    await expect(write({ ...database, commit: ending }, controller.signal)).rejects.toBe(reason);
    expect(attempts).toBe(20);
  });
});
