import { describe, expect, it } from 'vitest';
import { judge } from '../../load/support/kind.ts';
import { Places } from '../../load/support/places.ts';

const answer = (status: number, headers: Readonly<Record<string, string>> = {}) => ({
  status,
  headers,
  tail: 'the body',
  isLeft: false,
});

/** A call that is the last of so many at once, of which two are admitted. */
function callAmong(count: number) {
  const places = new Places(2);
  const calls = Array.from({ length: count }, () => places.begin());
  for (const call of calls) call.take();
  const call = calls.at(-1);
  if (call === undefined) throw new Error('there is no call');
  return call;
}

describe('an answer', () => {
  it('is as asked with the expected status', () => {
    expect(judge(answer(200), 200)).toEqual({ answer: '200' });
  });

  it('is a problem with another status, or with another content', () => {
    expect(judge(answer(500), 200).problem).toBe('500 instead of 200: the body');
    expect(judge(answer(200), 200, { check: ({ tail }) => `wrong: ${tail}` }).problem).toBe('wrong: the body');
  });

  it('may be 429 with retry-after only while there are more calls than are admitted', () => {
    const retryAfter = { 'retry-after': '5' };
    expect(judge(answer(429, retryAfter), 200, { call: callAmong(3) }).problem).toBeUndefined();
    expect(judge(answer(429), 200, { call: callAmong(3) }).problem).toBe('429 without retry-after');
    expect(judge(answer(429, retryAfter), 200, { call: callAmong(2) }).problem).toContain('429 instead of 200');
    expect(judge(answer(429, retryAfter), 200).problem).toContain('429 instead of 200');
  });
});
