import { describe, expect, it } from 'vitest';
import { BoundedList } from '../../../shared/collections/boundedList.ts';

describe('a bounded list', () => {
  it('keeps the first entries, and counts the others', () => {
    const list = new BoundedList(2, ['a', 'b', 'c']);
    list.add('d');
    expect(list).toMatchObject({ entries: ['a', 'b'], omitted: 2, size: 4 });
    list.clear();
    expect(list).toMatchObject({ entries: [], omitted: 0, size: 0 });
  });
});
