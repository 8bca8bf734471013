import { describe, expect, it } from 'vitest';
import { type ComparedContent, fieldDifferences } from '../../../shared/organisation/equality.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';

const content = (json: ComparedContent['json'], more: Partial<ComparedContent> = {}): ComparedContent => ({
  json,
  secrets: {},
  ...more,
});

/** Compares two records of a section, whose organisation has the identity provider `own`. */
function differences(section: string, first: ComparedContent, second: ComparedContent) {
  return fieldDifferences(sectionNamed(section), first, second, (idpId) => idpId === 'own');
}

const ofActions = (first: ComparedContent['json'], second: ComparedContent['json']) =>
  differences('actions', content(first), content(second));

describe('the differing fields of two records', () => {
  it('have their paths and both values', () => {
    const first = { user: { userName: 'ada', phone: '1', tags: ['a', 'b'] } };
    const second = { user: { userName: 'bob', email: { email: 'b' }, tags: ['a', 'c'] } };
    expect(ofActions(first, second)).toEqual([
      { path: 'user.userName', first: 'ada', second: 'bob' },
      { path: 'user.phone', first: '1', second: undefined },
      { path: 'user.tags[1]', first: 'b', second: 'c' },
      { path: 'user.email', first: undefined, second: { email: 'b' } },
    ]);
  });

  it('include whole lists of different lengths', () => {
    expect(ofActions({ a: [1] }, { a: [1, 2] })).toEqual([{ path: 'a', first: [1], second: [1, 2] }]);
  });
});
