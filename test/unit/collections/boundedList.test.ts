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

  it('keeps no more entries than fit into a size, in their order', () => {
    const list = new BoundedList(10, ['ab', 'cd', 'efg', 'h'], 10);
    expect(list).toMatchObject({ entries: ['ab', 'cd'], omitted: 2 });
    list.clear();
    list.add('efg');
    expect(list).toMatchObject({ entries: ['efg'], omitted: 0 });
  });
});
