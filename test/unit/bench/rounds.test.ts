import { describe, expect, it } from 'vitest';
import { createContext } from '../../../bench/context.ts';
import { measureRounds } from '../../../bench/rounds.ts';

const scenario = () => {
  let number = 0;
  return { prepare: async () => async () => ({ number: number++ }) };
};

describe('measureRounds', () => {
  it('repeats a short round five times, or as often as the scenario or the caller says', async () => {
    await using resources = new AsyncDisposableStack();
    const bench = await createContext(1, resources);
    expect(await measureRounds(scenario(), bench)).toEqual([0, 1, 2, 3, 4].map((number) => ({ number })));
    expect(await measureRounds({ ...scenario(), rounds: 1 }, bench)).toEqual([{ number: 0 }]);
    expect(await measureRounds({ ...scenario(), rounds: 1 }, bench, 2)).toHaveLength(2);
  });

  it('returns the reason of a scenario that cannot run', async () => {
    await using resources = new AsyncDisposableStack();
    const bench = await createContext(1, resources);
    const missing = { missing: 'no emulator' };
    expect(await measureRounds({ prepare: async () => missing }, bench)).toBe(missing);
  });
});
