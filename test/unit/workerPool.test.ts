import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { WorkerPool } from '../../shared/workerPool.ts';

/** A worker that repeats its task, and fails or ends if the task requests it. */
const program = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (task) => {
    if (task === 'fail') throw new Error('injected');
    if (task === 'exit') process.exit(3);
    parentPort.postMessage(task);
  });
`;

function startPool(size: number) {
  const workers: Worker[] = [];
  const start = () => {
    const worker = new Worker(program, { eval: true });
    workers.push(worker);
    return worker;
  };
  return { pool: new WorkerPool<string, string>(start, size), workers };
}

describe('a pool of workers', () => {
  it('returns to each task its own result, with no more workers than its size', async () => {
    const { pool, workers } = startPool(3);
    const tasks = Array.from({ length: 50 }, (_, index) => `task ${index}`);
    expect(await Promise.all(tasks.map((task) => pool.run(task)))).toEqual(tasks);
    expect(workers).toHaveLength(3);
  });

  it('starts no worker before it is needed, and reuses it', async () => {
    const { pool, workers } = startPool(3);
    expect(workers).toHaveLength(0);
    for (const task of ['a', 'b', 'c']) await pool.run(task);
    expect(workers).toHaveLength(1);
  });

  it.each([
    ['fail', 'injected'],
    ['exit', 'the worker ended with exit code 3'],
  ])('rejects the task at which a worker ends (%s), and gives the others to a new one', async (task, message) => {
    const { pool, workers } = startPool(1);
    const [first, broken, last] = [pool.run('first'), pool.run(task), pool.run('last')];
    await expect(broken).rejects.toThrow(message);
    expect(await Promise.all([first, last])).toEqual(['first', 'last']);
    expect(workers).toHaveLength(2);
  });

  it('replaces a worker that ended idle', async () => {
    const { pool, workers } = startPool(1);
    await pool.run('a');
    await workers[0]?.terminate();
    expect(await pool.run('b')).toBe('b');
    expect(workers).toHaveLength(2);
  });

  it('drops the tasks that no worker has begun when their signal aborts', async () => {
    const { pool } = startPool(1);
    const signal = AbortSignal.abort('stopped');
    const results = await Promise.allSettled([pool.run('a'), pool.run('b', signal), pool.run('c')]);
    expect(results).toMatchObject([{ value: 'a' }, { reason: 'stopped' }, { value: 'c' }]);
  });
});
