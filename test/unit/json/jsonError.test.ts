import { describe, expect, it } from 'vitest';
import { JsonError, withLine } from '../../../shared/json/jsonError.ts';

describe('the line of an error', () => {
  const text = '{\n"a":1,\n\n"b" 2}';

  it.each([
    [0, 'line 1, column 1'],
    [1, 'line 1, column 2'],
    [2, 'line 2, column 1'],
    [9, 'line 3, column 1'],
    [text.indexOf('2'), 'line 4, column 5'],
    [text.length, 'line 4, column 7'],
  ])('is found wherever the content is cut: position %d', async (position, place) => {
    for (let cut = 0; cut <= text.length; cut++) {
      async function* content() {
        yield Buffer.from(text.slice(0, cut));
        yield Buffer.from(text.slice(cut));
      }
      const error = await withLine(new JsonError(['b'], 'unexpected', { position }), content());
      expect(error).toMatchObject({ message: `unexpected (${place})`, path: ['b'] });
    }
  });

  it('is not looked for without a position', async () => {
    const error = new JsonError([], 'x');
    const content = (): never => {
      throw new Error('read');
    };
    expect(await withLine(error, { [Symbol.asyncIterator]: content })).toBe(error);
  });
});
