import { describe, expect, it } from 'vitest';
import { follow, ModelledFirestore, type Strategy, VirtualClock } from '../../../tools/scaling/model.ts';

const MINUTE_MS = 60_000;
const inputs = { inspectMs: 0.02, planMs: 0.06, skipMs: 0.006, commitMs: 40 };
const one: Strategy = { name: 'one', tasks: 1, calls: 1, limitMs: 59 * MINUTE_MS };

describe('a virtual clock', () => {
  it('passes only while all work waits, and wakes what waits in the order of its times', async () => {
    const clock = new VirtualClock();
    const woken: [string, number][] = [];
    const wait = async (name: string, milliseconds: number) => {
      await clock.sleep(milliseconds);
      woken.push([name, clock.now()]);
    };
    await clock.run(Promise.all([wait('late', 3_600_000), wait('soon', 5), wait('then', 5)]));
    expect(woken).toEqual([
      ['soon', 5],
      ['then', 5],
      ['late', 3_600_000],
    ]);
  });

  it('fails for work that waits for something else', async () => {
    await expect(new VirtualClock().run(new Promise(() => {}))).rejects.toThrow('something else');
  });

  it('fails with the work', async () => {
    const clock = new VirtualClock();
    const work = clock.sleep(1).then(() => Promise.reject(new Error('broken')));
    await expect(clock.run(work)).rejects.toThrow('broken');
  });
});

describe('the modelled database', () => {
  it('rejects what exceeds 500 documents a second after the first 10,000, as an overload', async () => {
    const clock = new VirtualClock();
    const database = new ModelledFirestore(clock, 40);
    const commit = (documents: number) => clock.run(database.commit(documents));
    await commit(10_000);
    await expect(commit(250)).rejects.toMatchObject({ code: 8 });
    await clock.run(clock.sleep(500));
    await commit(250);
    expect([database.documents, database.rejected]).toEqual([10_250, 1]);
  });

  it('admits half as much again after five minutes', async () => {
    const clock = new VirtualClock();
    const database = new ModelledFirestore(clock, 0);
    await clock.run(database.commit(1));
    await clock.run(clock.sleep(5 * MINUTE_MS));
    await clock.run(database.commit(10_000));
    await clock.run(clock.sleep(1_000));
    await clock.run(database.commit(750));
    expect(database.rejected).toBe(0);
  });
});

describe('a modelled import', () => {
  it('of 200,000 users takes the six minutes of the rule, in one process or in several', async () => {
    for (const tasks of [1, 4]) {
      const { users, hours } = await follow({ ...one, tasks }, 200_000, inputs);
      expect(users).toBe(200_000);
      expect(hours * 60).toBeGreaterThan(5.5);
      expect(hours * 60).toBeLessThan(7);
    }
  });

  it('that reaches the limit of a call is incomplete, and complete after more calls', async () => {
    const limited = { ...one, limitMs: 2 * MINUTE_MS };
    const once = await follow(limited, 200_000, inputs);
    expect(once.users).toBeLessThan(100_000);
    const repeated = await follow({ ...limited, calls: 10 }, 200_000, inputs);
    expect(repeated.users).toBe(200_000);
    expect(repeated.calls).toBeGreaterThan(1);
    expect(repeated.hours).toBeGreaterThan(once.hours);
  });
});
