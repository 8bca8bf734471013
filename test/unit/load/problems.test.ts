import { describe, expect, it } from 'vitest';
import { Ledger } from '../../load/support/ledger.ts';
import type { ObservedLoad } from '../../load/support/loadResult.ts';
import { findProblems } from '../../load/support/problems.ts';

const kind = { name: 'removal', workers: 1, asked: ['200'], send: async () => undefined };
const resultWith = (...outcomes: readonly { answer: string; problem?: string }[]) => {
  const ledger = new Ledger(kind);
  for (const outcome of outcomes) ledger.add(outcome, 1);
  return ledger.result(1);
};
const flat = { middle: 1, last: 1, isFlat: true };
const growing = { middle: 1, last: 2, isFlat: false };
const good: ObservedLoad = {
  kinds: [resultWith({ answer: '200' })],
  rss: flat,
  descriptors: flat,
  descriptorsAround: [30, 46],
  resent: 1,
  left: { connections: 0, requests: 0 },
  exitCode: 0,
  unaskedLines: [],
};

describe('a run under load', () => {
  it('that is as it should be has no problems', () => {
    expect(findProblems(good)).toEqual([]);
  });

  it.each<[string, Partial<ObservedLoad>, string]>([
    [
      'an unexpected answer',
      { kinds: [resultWith({ answer: '200' }, { answer: '500', problem: 'oh' })] },
      'removal: oh',
    ],
    ['no expected answer', { kinds: [resultWith()] }, 'removal: never 200'],
    ['growing memory', { rss: growing }, 'the memory grows: 1 in the middle third, 2 in the last one'],
    ['a growing number of descriptors', { descriptors: growing }, 'the number of descriptors grows: 1'],
    ['descriptors that stay open', { descriptorsAround: [30, 47] }, '47 descriptors are open, and were 30'],
    ['connections that are cut', { resent: 2 }, '2 requests met a closed connection'],
    ['a connection that is left', { left: { connections: 1, requests: 0 } }, '1 connections are left'],
    ['a request that is left', { left: { connections: 0, requests: 1 } }, '1 requests are in flight'],
    ['a server that is killed', { exitCode: null }, 'the server ended with null'],
    ['a line in the log', { unaskedLines: ['request failed'] }, 'request failed'],
  ])('fails with %s', (_name, change, expected) => {
    expect(findProblems({ ...good, ...change }).join('\n')).toContain(expected);
  });
});
