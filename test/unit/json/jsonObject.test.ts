import { describe, expect, it } from 'vitest';
import { textsAt } from '../../../shared/json/jsonObject.ts';

const record = {
  name: 'n',
  keys: ['a', 'b', 3],
  inner: { list: [{ id: 'x', kind: 'ONE' }, { id: 'y', kind: 'TWO' }, { kind: 'ONE' }, 'z'] },
};

describe('the texts at a path', () => {
  it.each([
    ['name', ['n']],
    ['missing', ['']],
    ['=constant', ['constant']],
    ['$orgId', ['org']],
    ['keys[]', ['a', 'b']],
    ['inner.list[].id', ['x', 'y']],
    ['inner.list[kind=ONE].id', ['x']],
    ['inner.list[kind=THREE].id', []],
    ['missing[]', []],
    ['name[].id', []],
    ['missing.list[].id', []],
  ])('%s are %j', (path, texts) => {
    expect(textsAt(record, path, 'org')).toEqual(texts);
  });
});
