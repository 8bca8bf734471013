import { describe, expect, it } from 'vitest';
import { systemClock } from '../../shared/clock.ts';

describe('the system clock', () => {
  it('sleeps until the time has passed', async () => {
    const before = systemClock.now();
    await systemClock.sleep(20);
    expect(systemClock.now() - before).toBeGreaterThanOrEqual(19);
  });

  it('ends a sleep with the signal, and throws its reason', async () => {
    const controller = new AbortController();
    const sleeping = systemClock.sleep(60_000, controller.signal);
    controller.abort(new Error('over'));
    await expect(sleeping).rejects.toThrow('over');
  });
});
