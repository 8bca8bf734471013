import { expect, it } from 'vitest';
import { defined, withoutEmpty } from '../../shared/defined.ts';

it('defined fields are kept, empty ones too', () => {
  expect(defined({ id: '', count: 0, name: undefined })).toEqual({ id: '', count: 0 });
});

it('empty fields are omitted: undefined, false, 0, and texts, lists and objects without content', () => {
  const empty = { absent: undefined, isDone: false, count: 0, text: '', list: [], counts: {} };
  const filled = { isFound: true, number: 1, name: 'a', errors: [0], created: { org: 0 }, nothing: null };
  expect(withoutEmpty({ ...empty, ...filled })).toEqual(filled);
});
