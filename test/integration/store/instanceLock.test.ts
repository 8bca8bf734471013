import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import { cancelled } from '../../../shared/errors/httpErrors.ts';
import { instanceLockLost } from '../../../shared/errors/storeErrors.ts';
import { fencedDocuments, fenceKeys, withLock } from '../../../shared/store/lock/fence.ts';
import { type HeldLock, type LockHolder, type LockMode, MAX_WAITING } from '../../../shared/store/lock/instanceLock.ts';
import type { StoreLocation } from '../../../shared/store/openStore.ts';
import { documentId, documentPath, type Store, type Write } from '../../../shared/store/store.ts';
import { type Running, startProgram } from '../../../tools/program.ts';
import { createUser, userKey } from '../../support/stores/documents.ts';
import { describeStores, openTestStore, type StoreKind } from '../../support/stores/stores.ts';
import { openWithShortLease } from './instanceLock/shortLease.ts';

const holder = fileURLToPath(new URL('instanceLock/holder.ts', import.meta.url));
const waiter = fileURLToPath(new URL('instanceLock/waiter.ts', import.meta.url));

/** Starts another process that holds the lock. */
async function startHolder(location: StoreLocation, mode: LockMode, ...lease: 'short'[]): Promise<Running> {
  const args = [holder, JSON.stringify(location), mode, ...lease];
  const running = await startProgram(process.execPath, args, /taken/, { env: { LOG_LEVEL: 'silent' } });
  onTestFinished(async () => void (await running.stop('SIGKILL')));
  return running;
}

/** Opens a store whose lock another process holds, in Firestore with a short lease. */
async function shortlyHeld(kind: StoreKind, mode: LockMode = 'alone') {
  const location = await kind.newLocation();
  const store = await openWithShortLease(location);
  onTestFinished(() => store.close());
  return { location, store, running: await startHolder(location, mode, 'short') };
}

/** Lists the files in the directory of a lock that describe its holders. */
async function holderFiles(location: StoreLocation): Promise<string[]> {
  if (location.kind !== 'sqlite') throw new Error('only directories have files');
  return (await readdir(join(location.directory, 'lock'))).filter((name) => name !== 'lock.sqlite');
}

const leaseSchema = z.object({ holders: z.array(z.object({ id: z.string() })) });

interface Waiting {
  readonly held: Promise<HeldLock>;
  /** Resolves with the holder when the wait begins. */
  readonly waits: Promise<LockHolder>;
  readonly end: (reason: Error) => void;
}

/** Takes the lock in this process. */
function take({ lock }: Store, mode: LockMode, operation = 'org delete'): Waiting {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<LockHolder>();
  const { signal } = controller;
  const held = lock.take({ mode, operation, caller: 'waiting', signal, onWait: resolve });
  held.catch(() => undefined);
  return { held, waits: promise, end: (reason) => controller.abort(reason) };
}

/**
 * Reads a holder's description as another process does, but for longer: it blocks the file while it waits for the
 * holder.
 */
const LOOK = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(workerData);
  database.exec('PRAGMA busy_timeout = 2000');
  parentPort.postMessage('looking');
  database.exec('BEGIN EXCLUSIVE');
`;

const theHolder = {
  operation: 'import',
  caller: 'holder',
  since: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
};

describeStores('the lock of an instance', (kind) => {
  it('is held by two processes that share it', async () => {
    const location = await kind.newLocation();
    const store = await openTestStore(kind, location);
    await startHolder(location, 'shared');
    await (await take(store, 'shared').held)[Symbol.asyncDispose]();
  });

  it.each<[LockMode, readonly LockMode[]]>([
    ['alone', ['alone', 'shared']],
    ['shared', ['alone']],
  ])('is not held by another process (%s) and by this one (%s)', async (theirs, own) => {
    const location = await kind.newLocation();
    const store = await openTestStore(kind, location);
    await startHolder(location, theirs);
    for (const mode of own) {
      const { held, waits, end } = take(store, mode);
      expect(await waits).toEqual(theHolder);
      const { since } = await waits;
      end(deadlineExceeded());
      await expect(held).rejects.toMatchObject({
        reason: 'INSTANCE_BUSY',
        httpStatus: 503,
        retryAfterSeconds: 30,
        message: `import, which holder began at ${since}, must end before this call can begin: retry the request later`,
      });
      const left = take(store, mode);
      await left.waits;
      left.end(cancelled());
      await expect(left.held).rejects.toMatchObject({ reason: 'CANCELLED' });
    }
  });

  it('is taken in order, and not by more than a few calls that wait', async () => {
    const store = await openTestStore(kind);
    const first = await take(store, 'shared').held;
    const order: number[] = [];
    const waiting = Array.from({ length: MAX_WAITING }, (_, number) =>
      take(store, number % 2 === 0 ? 'alone' : 'shared'),
    );
    const ended = waiting.map(async ({ held }, number) => {
      await using _held = await held;
      order.push(number);
    });
    for (const { waits } of waiting) await waits;
    await expect(take(store, 'shared').held).rejects.toMatchObject({ reason: 'INSTANCE_BUSY' });
    await first[Symbol.asyncDispose]();
    await Promise.all(ended);
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('is free for all calls at once after the last one that waited has left, and its holder has released it', async () => {
    const store = await openTestStore(kind);
    const first = await take(store, 'shared').held;
    const left = take(store, 'alone');
    await left.waits;
    left.end(deadlineExceeded());
    await expect(left.held).rejects.toMatchObject({ reason: 'INSTANCE_BUSY' });
    await first[Symbol.asyncDispose]();
    const taken = Array.from({ length: 2 * MAX_WAITING }, () => take(store, 'shared').held);
    for (const held of await Promise.all(taken)) await held[Symbol.asyncDispose]();
  });

  if (kind.name === 'SQLite') {
    it('is taken from a process that was killed', async () => {
      const { store, running } = await shortlyHeld(kind);
      const { held, waits } = take(store, 'alone');
      await waits;
      await running.stop('SIGKILL');
      await using _held = await held;
    });

    it('is kept by a process that is stopped, and goes on later', async () => {
      const { store, running } = await shortlyHeld(kind);
      process.kill(running.pid, 'SIGSTOP');
      const { held, waits, end } = take(store, 'alone');
      await waits;
      end(deadlineExceeded());
      await expect(held).rejects.toMatchObject({ reason: 'INSTANCE_BUSY' });
      process.kill(running.pid, 'SIGCONT');
      process.kill(running.pid, 'SIGUSR2');
      await running.written('written written 0');
    });

    it('names a holder that lives, and keeps no file of one that was killed later', async () => {
      const location = await kind.newLocation();
      const store = await openTestStore(kind, location);
      const living = await take(store, 'shared', 'export').held;
      const [own] = await holderFiles(location);
      const killed = await startHolder(location, 'shared');
      await killed.stop('SIGKILL');
      expect(await holderFiles(location)).toHaveLength(2);
      const { held, waits } = take(store, 'alone');
      expect(await waits).toMatchObject({ operation: 'export', caller: 'waiting' });
      expect(await holderFiles(location)).toEqual([own]);
      await living[Symbol.asyncDispose]();
      await using _held = await held;
    });

    it('is waited for while another process looks at the same holder', async () => {
      const location = await kind.newLocation();
      const store = await openTestStore(kind, location);
      const holding = await take(store, 'shared', 'export').held;
      const [own = ''] = await holderFiles(location);
      const look = new Worker(LOOK, { eval: true, workerData: join(location.directory ?? '', 'lock', own) });
      onTestFinished(async () => void (await look.terminate()));
      await once(look, 'message');
      const { held, waits } = take(store, 'alone');
      expect(await waits).toMatchObject({ caller: expect.any(String) });
      await look.terminate();
      await holding[Symbol.asyncDispose]();
      await using _held = await held;
    });

    it.each<LockMode>(['alone', 'shared'])(
      'is taken (%s) after a process that was killed, of which no file is left',
      async (mode) => {
        const location = await kind.newLocation();
        const store = await openTestStore(kind, location);
        const killed = await startHolder(location, 'alone');
        await killed.stop('SIGKILL');
        const left = await holderFiles(location);
        expect(left).toHaveLength(1);
        const held = await take(store, mode).held;
        const present = await holderFiles(location);
        expect(present).toHaveLength(1);
        expect(present).not.toEqual(left);
        await held[Symbol.asyncDispose]();
        expect(await holderFiles(location)).toEqual([]);
      },
    );

    it.each<LockMode>(['alone', 'shared'])(
      'is not taken (%s) with a damaged file, which the error names, and is taken once that is deleted',
      async (mode) => {
        const location = await kind.newLocation();
        const store = await openTestStore(kind, location);
        await (await take(store, mode).held)[Symbol.asyncDispose]();
        const file = join(location.directory ?? '', 'lock', 'lock.sqlite');
        await writeFile(file, 'damaged '.repeat(1_000));
        await expect(take(store, mode).held).rejects.toMatchObject({
          reason: 'LOCK_FILE_DAMAGED',
          httpStatus: 503,
          message: `the lock of the instance cannot be taken, because ${file} is damaged: stop all processes that use the data directory, then delete the file, which contains no data`,
        });
        expect(await readFile(file, 'utf8')).toMatch(/^damaged /);
        await rm(file);
        await using _held = await take(store, mode).held;
      },
    );
  }

  if (kind.name === 'SQLite') {
    it.each([
      ['a file in place of its directory', 'directory', ['lock'], (path: string) => writeFile(path, '')],
      [
        'a directory in place of its file',
        'file',
        ['lock', 'lock.sqlite'],
        (path: string) => mkdir(path, { recursive: true }),
      ],
    ] as const)('is not taken with %s, which the error names', async (_what, expected, parts, obstruct) => {
      const location = await kind.newLocation();
      const store = await openTestStore(kind, location);
      const path = join(location.directory ?? '', ...parts);
      await obstruct(path);
      await expect(take(store, 'alone').held).rejects.toMatchObject({
        reason: 'LOCK_FILE_OBSTRUCTED',
        httpStatus: 503,
        message: `the lock of the instance cannot be taken, because ${path} is not a ${expected}: move ${path} out of the data directory`,
      });
      await rename(path, `${location.directory}/moved`);
      await using _held = await take(store, 'alone').held;
    });
  }

  if (kind.name === 'Firestore') {
    const readCopies = async (store: Store) => (await store.getMany(fenceKeys, ['digest'])).map((copy) => copy?.digest);

    it('changes all copies of its fence when it is taken from a process that was killed', async () => {
      const { store, running } = await shortlyHeld(kind);
      const [epoch, ...others] = await readCopies(store);
      expect(new Set(others)).toEqual(new Set([epoch]));
      const { held, waits } = take(store, 'alone');
      await waits;
      await running.stop('SIGKILL');
      const { fence } = await held;
      await (await held)[Symbol.asyncDispose]();
      expect(fence?.epoch).not.toBe(epoch);
      expect(new Set(await readCopies(store))).toEqual(new Set([fence?.epoch]));
    });

    it.each([
      { first: 'shared', next: 'alone' },
      { first: 'alone', next: 'shared' },
      { first: 'alone', next: 'alone' },
    ] as const)('rejects what a holder ($first) commits after its end, beside the next one ($next)', async (modes) => {
      const store = await openTestStore(kind);
      const ended = await take(store, modes.first).held;
      await ended[Symbol.asyncDispose]();
      await using _next = await take(store, modes.next).held;
      const late = fencedDocuments(store, ended.fence).commit([createUser('late')]);
      await expect(late).rejects.toSatisfy(instanceLockLost.is);
      expect(await store.getMany([userKey('late')])).toEqual([undefined]);
    });

    it('keeps its fence while only holders that share it follow each other', async () => {
      const store = await openTestStore(kind);
      await (await take(store, 'shared').held)[Symbol.asyncDispose]();
      const before = await readCopies(store);
      await (await take(store, 'shared').held)[Symbol.asyncDispose]();
      expect(await readCopies(store)).toEqual(before);
    });

    it('is renewed while it is held', async () => {
      const { store } = await shortlyHeld(kind);
      const read = async (...parts: [string, ...string[]]) =>
        (await store.getMany([{ collection: 'instance', id: documentId(...parts) }]))[0];
      const [holding] = leaseSchema.parse(JSON.parse((await read('lease'))?.body ?? '')).holders;
      await expect.poll(async () => (await read('lease holder', holding?.id ?? ''))?.sequence).toBeGreaterThan(1);
    });

    it('does not list an expired holder after another has entered, and keeps it from writing beside one alone', async () => {
      const { store, running } = await shortlyHeld(kind, 'shared');
      process.kill(running.pid, 'SIGUSR2');
      await running.written('written written 0');
      process.kill(running.pid, 'SIGSTOP');
      const countHolders = async () => {
        await using _held = await take(store, 'shared').held;
        const [lease] = await store.getMany([{ collection: 'instance', id: documentId('lease') }]);
        return leaseSchema.parse(JSON.parse(lease?.body ?? '')).holders.length;
      };
      expect(await countHolders()).toBe(2);
      await expect.poll(countHolders, { timeout: 30_000 }).toBe(1);
      await using _held = await take(store, 'alone').held;
      process.kill(running.pid, 'SIGCONT');
      process.kill(running.pid, 'SIGUSR2');
      await running.written('refused this process was suspended');
    });
  }

  describe('for which several processes wait', () => {
    const PROCESSES = 3;
    const ROUNDS = 2;

    /** Starts processes that wait for the lock. */
    async function startWaiters(location: StoreLocation): Promise<readonly Running[]> {
      const args = [waiter, JSON.stringify(location), String(ROUNDS)];
      const start = async () => {
        const running = await startProgram(process.execPath, args, /waits|counted/, { env: { LOG_LEVEL: 'silent' } });
        onTestFinished(async () => void (await running.stop('SIGKILL')));
        return running;
      };
      return Promise.all(Array.from({ length: PROCESSES }, start));
    }

    /** Waits until all processes have ended well, each after all of its rounds, and none has lost a count. */
    async function expectAllCounted(store: Store, waiters: readonly Running[]): Promise<void> {
      const ended = await Promise.all(waiters.map((running) => running.ended()));
      expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(waiters.map(() => [0, '']));
      const [count] = await store.getMany([{ collection: 'instance', id: 'count' }]);
      expect(count?.sequence).toBe(PROCESSES * ROUNDS);
    }

    it('is given to each of them in turn after its holder was stopped for longer than its lease, or killed', async () => {
      const { store, location, running } = await shortlyHeld(kind);
      process.kill(running.pid, 'SIGUSR2');
      await running.written('written written 0');
      const waiters = await startWaiters(location);
      process.kill(running.pid, 'SIGSTOP');
      // The system keeps the lock of a stopped process.
      if (kind.name === 'SQLite') await running.stop('SIGKILL');
      await expectAllCounted(store, waiters);
      if (kind.name === 'SQLite') return;
      process.kill(running.pid, 'SIGCONT');
      await running.written('ended this process was suspended');
      process.kill(running.pid, 'SIGUSR2');
      await running.written('refused this process was suspended');
      expect(await store.getMany([{ collection: 'instance', id: 'written 1' }])).toEqual([undefined]);
    });
  });

  it('tells the present position, after which a transaction recognises changes', async () => {
    const store = await openTestStore(kind);
    const names = ['changed', 'unchanged', 'created', 'missing'];
    await store.commit([createUser('changed'), createUser('unchanged')]);
    const position = await store.lock.position(new AbortController().signal);
    const change: Write = { type: 'update', key: userKey('changed'), fields: { state: 'changed' } };
    await store.commit([change, createUser('created')]);
    const changed = await store.transaction(async ({ getMany, changedAfter }) => {
      await getMany(
        names.map((name) => userKey(name)),
        ['state'],
      );
      return new Set(changedAfter(position).keys());
    });
    expect(changed).toEqual(new Set(['changed', 'created'].map((name) => documentPath(userKey(name)))));
  });

  it('is released after work that fails', async () => {
    const store = await openTestStore(kind);
    const { signal } = new AbortController();
    const request = { mode: 'alone', operation: 'import', caller: 'first', signal } as const;
    const failing = withLock(store, request, () => Promise.reject(new Error('failed')));
    await expect(failing).rejects.toThrow('failed');
    expect(await withLock(store, request, async () => 'taken')).toBe('taken');
  });
});
