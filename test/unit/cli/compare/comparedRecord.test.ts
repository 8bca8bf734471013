import { describe, expect, it } from 'vitest';
import { fieldDifferences } from '../../../../cli/compare/comparedRecord.ts';

function differences(first: object, second: object, firstSecrets = {}, secondSecrets = {}) {
  const content = (json: object, secrets: Record<string, string>) => ({ body: JSON.stringify(json), secrets });
  return fieldDifferences(content(first, firstSecrets), content(second, secondSecrets));
}

describe('the differing fields of two records', () => {
  it('have their paths and both values', () => {
    const first = { user: { userName: 'ada', phone: '1', tags: ['a', 'b'] } };
    const second = { user: { userName: 'bob', email: { email: 'b' }, tags: ['a', 'c'] } };
    expect(differences(first, second)).toEqual([
      { path: 'user.userName', first: 'ada', second: 'bob' },
      { path: 'user.phone', first: '1', second: undefined },
      { path: 'user.tags[1]', first: 'b', second: 'c' },
      { path: 'user.email', first: undefined, second: { email: 'b' } },
    ]);
  });

  it('are none of equal records, whatever the order of their fields', () => {
    expect(differences({ a: 1, b: [1] }, { b: [1], a: 1 }, { p: 'x' }, { p: 'x' })).toEqual([]);
  });

  it('are whole lists of other lengths', () => {
    expect(differences({ a: [1] }, { a: [1, 2] })).toEqual([{ path: 'a', first: [1], second: [1, 2] }]);
  });

  it('do not show secrets', () => {
    expect(differences({}, {}, { a: 'x', b: 'x', c: 'x' }, { a: 'y', c: 'x', d: 'y' })).toEqual([
      { path: 'a', secret: 'differs' },
      { path: 'b', secret: 'only in the first' },
      { path: 'd', secret: 'only in the second' },
    ]);
  });
});
