import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseUnique } from '../../../shared/json/jsonText.ts';
import { scanDocument } from './scanDocument.ts';

const parsed = (text: string) => scanDocument([Buffer.from(text)], () => 'keep').map(parseUnique);

describe('a duplicate name in one object', () => {
  it.each([
    ['at the top', '{"a":1,"a":2}', 'a'],
    ['deep inside', '{"a":[{"b":{"c":1,"d":2,"c":3}}]}', 'c'],
    ['written with an escape', '{"a":1,"\\u0061":2}', 'a'],
    ['with spaces before the colon', '{"a" : 1, "a"\n:2}', 'a'],
    ['with a quote and backslashes', '{"x\\"\\\\":1,"x\\"\\\\":2}', 'x"\\'],
    ['called __proto__', '{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('is found %s', (_, text, name) => {
    expect(() => parsed(text)).toThrow(`duplicate field ${JSON.stringify(name)}`);
  });

  it.each([
    ['the same name in different objects', '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}'],
    ['a value that looks like a name', '{"a":"b\\":","c":"{\\"a\\":1,\\"a\\":2}"}'],
    ['a value equal to a name', '{"a":"a","b":["a","a"]}'],
    ['an empty object and a plain value', '[{},[],"x",1,null]'],
  ])('is not reported for %s', (_, text) => {
    expect(parsed(text)).toEqual([JSON.parse(text)]);
  });

  it('is never reported for output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = `[${JSON.stringify(value)}]`;
        expect(parsed(text)).toEqual([JSON.parse(text)]);
      }),
    );
  });
});
