import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { shareRuns } from '../../shared/async.ts';

/** Work that ends when the test calls its resolver. */
function controlledWork() {
  const runs: PromiseWithResolvers<void>[] = [];
  const share = shareRuns(() => {
    const run = Promise.withResolvers<void>();
    runs.push(run);
    return run.promise;
  });
  return { share, runs };
}

it('shared work runs once more for all calls that arrive during a run', async () => {
  const { share, runs } = controlledWork();
  const first = share();
  await nextRound();
  const others = [share(), share()];
  expect(runs).toHaveLength(1);
  runs[0]?.resolve();
  await first;
  await nextRound();
  expect(runs).toHaveLength(2);
  runs[1]?.resolve();
  await Promise.all(others);
  void share();
  await nextRound();
  expect(runs).toHaveLength(3);
});

it('a failed run fails its own calls, and no others', async () => {
  const { share, runs } = controlledWork();
  const first = share();
  await nextRound();
  const second = share();
  runs[0]?.reject(new Error('EIO'));
  await expect(first).rejects.toThrow('EIO');
  await nextRound();
  runs[1]?.resolve();
  await second;
});
