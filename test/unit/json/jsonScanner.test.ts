import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPath, JsonError, parseJson, type Treatment } from '../../../shared/json/jsonScanner.ts';
import { repetitions } from '../../support/repetitions.ts';
import { byteByByte, cutAt, enterAll, scanDocument, type Treat } from './scanDocument.ts';

// Everything that can be misread at a split: escapes, quotes, brackets in strings, white space, numbers at the end of lists.
const tricky = Buffer.from(
  ' {"a\\"b" : "x\\\\", "\\u00e9":"\\ud83d\\ude00","e":"",\r\n"list":[1,-2.5e+3,true,false,null] ,"deep":{"s":"]}\\"[{","é":[[],{},[{"z":"漢字🚀"}],"\\\\\\""]}\t,"n":12345\n, "last":null } \n',
);

/** Descends into objects and lists up to two levels, and keeps the values below. */
const enterTwo: Treat = (path) => (path.length < 2 ? 'enter' : 'keep');
const keepFields: Treat = (path) => (path.length === 0 ? 'enter' : 'keep');

function faultOf(work: () => unknown): JsonError {
  try {
    work();
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const refusal = (json: string, treat = enterAll) => faultOf(() => scanDocument([Buffer.from(json)], treat));

describe('a document that arrives in pieces', () => {
  it('is read the same wherever it is split in two', () => {
    const whole = scanDocument([tricky], enterTwo);
    for (let position = 0; position <= tricky.length; position++) {
      expect(scanDocument(cutAt(tricky, position), enterTwo), `cut at ${position}`).toEqual(whole);
    }
  });

  it('is read the same byte by byte', () => {
    for (const treat of [enterAll, enterTwo, keepFields]) {
      expect(scanDocument(byteByByte(tricky), treat)).toEqual(scanDocument([tricky], treat));
    }
  });

  it('is read the same with empty pieces in between', () => {
    const pieces = byteByByte(tricky).flatMap((piece) => [Buffer.alloc(0), piece]);
    expect(scanDocument(pieces, enterTwo)).toEqual(scanDocument([tricky], enterTwo));
  });

  it('is rejected wherever it is truncated', () => {
    const end = tricky.lastIndexOf('}');
    for (let position = 0; position <= end; position++) {
      expect(() => scanDocument([tricky.subarray(0, position)], enterTwo), `cut at ${position}`).toThrow(JsonError);
    }
    expect(scanDocument([tricky.subarray(0, end + 1)], enterTwo)).toEqual(scanDocument([tricky], enterTwo));
  });
});

describe('a value that the scanner finds', () => {
  const found = scanDocument([tricky], keepFields);

  it('has its path, with unescaped field names', () => {
    expect(found.map(({ path }) => path)).toEqual([['a"b'], ['é'], ['e'], ['list'], ['deep'], ['n'], ['last']]);
  });

  it('has its kind, derived from its first byte', () => {
    expect(found.map(({ kind }) => kind)).toEqual([
      'string',
      'string',
      'string',
      'array',
      'object',
      'scalar',
      'scalar',
    ]);
  });

  it('has its text and its byte offsets', () => {
    for (const { start, end, text } of found) expect(tricky.toString('utf8', start, end)).toBe(text);
    const whole: unknown = JSON.parse(tricky.toString());
    expect(Object.fromEntries(found.map(({ path, text }) => [path[0], JSON.parse(text)]))).toEqual(whole);
  });

  it('has a place but no text if it was skipped', () => {
    const skipped = scanDocument([tricky], (path) => (path.length === 0 ? 'enter' : 'skip'));
    expect(skipped).toEqual(found.map((value) => ({ ...value, text: '' })));
  });

  it('keeps the path that it was found with', () => {
    const paths = scanDocument([Buffer.from('{"a":[1,[2,3]],"b":[{"c":4}]}')], enterAll).map(({ path }) => path);
    expect(paths).toEqual([
      ['a', 0],
      ['a', 1, 0],
      ['a', 1, 1],
      ['b', 0, 'c'],
    ]);
  });
});

describe('any JSON', () => {
  const json = fc
    .tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom('', ' ', '\t', '\r\n '))
    .map(([value, indent]) => JSON.stringify({ value, list: [value, 0] }, null, indent));
  const splits = fc.array(fc.nat(), { maxLength: 12 });

  const leaves = (value: unknown, path: readonly (string | number)[] = []): unknown[] => {
    if (Array.isArray(value)) return value.flatMap((element, index) => leaves(element, [...path, index]));
    if (typeof value !== 'object' || value === null) return [[path, value]];
    return Object.entries(value).flatMap(([name, part]) => leaves(part, [...path, name]));
  };

  it('is found as JSON.parse finds it, however it is split', () => {
    fc.assert(
      fc.property(json, splits, (text, positions) => {
        const found = scanDocument(pieces(Buffer.from(text), positions), enterAll);
        const values = found.map(({ path, text: part }): unknown => [path, JSON.parse(part)]);
        expect(values).toEqual(leaves(JSON.parse(text)));
      }),
      { numRuns: repetitions({ few: 200, many: 20_000 }) },
    );
  });

  it('is returned whole if it is kept', () => {
    fc.assert(
      fc.property(json, splits, (text, positions) => {
        const found = scanDocument(pieces(Buffer.from(text), positions), keepFields);
        const [value, list] = found.map(({ text: part }): unknown => JSON.parse(part));
        expect({ value, list }).toEqual(JSON.parse(text));
      }),
      { numRuns: repetitions({ few: 200, many: 20_000 }) },
    );
  });

  function pieces(bytes: Buffer, positions: readonly number[]): Buffer[] {
    const cuts = [0, ...positions.map((position) => position % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
    return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
  }
});

describe('invalid JSON', () => {
  it.each([
    ['', 'unexpected end of JSON input'],
    [' \n', 'unexpected end of JSON input'],
    ['{"a":1}{', 'unexpected data after the end of the document'],
    ['{"a":1},', 'unexpected data after the end of the document'],
    ['{"a":1} x', 'unexpected data after the end of the document'],
    ['{"a":1}]', 'unexpected data after the end of the document'],
    ['{"a" 1}', 'unexpected "1", expected ":"'],
    ['{"a":}', 'unexpected "}", expected a value'],
    ['{"a":,"b":1}', 'unexpected ",", expected a value'],
    ['{"a"::1}', 'unexpected ":", expected a value'],
    ['{"a":1,}', 'unexpected "}", expected a field name in double quotes'],
    ['{,"a":1}', 'unexpected ",", expected a field name in double quotes'],
    ['{a:1}', 'unexpected "a", expected a field name in double quotes'],
    ["{'a':1}", 'unexpected "\'", expected a field name in double quotes'],
    ['{"a":1 "b":2}', 'unexpected "\\"", expected "," or "}"'],
    ['{"a":[1}', 'unexpected "}", expected "," or "]"'],
    ['{"a":[1 2]}', 'unexpected "2", expected "," or "]"'],
    ['{"a":[1,]}', 'unexpected "]", expected a value'],
    ['{"a":[,1]}', 'unexpected ",", expected a value'],
    ['{"a":{"b":1]}', 'unexpected "]", expected "," or "}"'],
    ['{é:1}', 'unexpected non-ASCII byte, expected a field name in double quotes'],
    ['\ufeff{}', 'the byte order mark'],
  ])('is rejected: %j', (json, message) => {
    if (message === 'the byte order mark') expect(() => scanDocument([Buffer.from(json)], enterAll)).toThrow();
    else expect(refusal(json).message).toBe(message);
  });

  it.each(['{"a":1,"a":2}', '{"x":1,"a":1,"\\u0061":2}', '{"é":1,"\\u00e9":2}', '{"":1,"":2}'])(
    'is rejected for its duplicate field: %j',
    (json) => {
      expect(refusal(json).message).toMatch(/^duplicate field "/);
    },
  );

  it("does not include equal fields in different objects, nor names of JavaScript's own properties", () => {
    const json = '{"a":[{"a":1},{"a":1}],"__proto__":1,"constructor":2,"toString":3}';
    expect(scanDocument([Buffer.from(json)], enterAll)).toHaveLength(5);
  });

  it.each([
    ['a field name', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a string', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc3, 0x28, 0x22, 0x7d])],
    ['an overlong form', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc0, 0xaf, 0x22, 0x7d])],
    ['half a surrogate pair', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d])],
  ])('is rejected for invalid UTF-8 in %s', (_name, bytes) => {
    expect(faultOf(() => scanDocument([bytes], enterAll)).message).toBe('invalid UTF-8');
    expect(faultOf(() => scanDocument(byteByByte(bytes), enterAll)).message).toBe('invalid UTF-8');
  });

  it('is rejected with the path of the error', () => {
    expect(refusal('{"orgs":[{"a":1},{"b":{"c":1,}}]}').path).toEqual(['orgs', 1, 'b', 'c']);
    expect(refusal('{"orgs":[{"a":1},{"a":1,"a":1}]}').path).toEqual(['orgs', 1, 'a']);
    expect(refusal('{"orgs":[{"a":1},{b:1}]}').path).toEqual(['orgs', 1]);
    expect(refusal('{"orgs":[{"a":1},{"\\x":1}]}').path).toEqual(['orgs', 1]);
    expect(refusal('{timeout:1}').path).toEqual([]);
  });

  it.each([1, 3, 100])('is rejected with the path inside a kept value, in pieces of %d bytes', (size) => {
    const bytes = Buffer.from('{"orgs":[{"users":[{"name":{"first":"A","last":"B\tC"},"more":[1,2]}]}]}');
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    const { path, message } = faultOf(() => scanDocument(pieces, ({ length }) => (length < 1 ? 'enter' : 'keep')));
    expect({ path, message }).toEqual({
      path: ['orgs', 0, 'users', 0, 'name', 'last'],
      message: 'unescaped control character in a string',
    });
  });
});

describe('a kept value', () => {
  const document = (value: string) => Buffer.from(`{"a":${value},"b":1}`);

  it.each([
    ['string', (size: number) => JSON.stringify('x'.repeat(size - 2))],
    ['object', (size: number) => JSON.stringify({ a: 'x'.repeat(size - 8) })],
    ['scalar', (size: number) => '1'.repeat(size)],
  ])('of kind %s may have the limit, and not one byte more', (_kind, make) => {
    for (const cut of [(bytes: Buffer) => [bytes], byteByByte]) {
      expect(scanDocument(cut(document(make(40))), keepFields, { valueBytes: 40 })[0]?.text).toHaveLength(40);
      const { message, path } = faultOf(() => scanDocument(cut(document(make(41))), keepFields, { valueBytes: 40 }));
      expect({ message, path }).toEqual({ message: 'the value exceeds 40 bytes', path: ['a'] });
    }
  });

  it('may be skipped whatever its size', () => {
    const bytes = document(JSON.stringify('x'.repeat(10_000)));
    const treat: Treat = (path) => (path[0] === 'a' ? 'skip' : 'enter');
    expect(scanDocument(byteByByte(bytes), treat, { valueBytes: 40 }).map(({ path }) => path)).toEqual([['a'], ['b']]);
  });

  it('may be a preview: it has its text up to the limit, and none beyond it', () => {
    const glance: Treat = (path) => (path[0] === 'a' ? 'glance' : 'enter');
    for (const cut of [(bytes: Buffer) => [bytes], byteByByte]) {
      for (const size of [39, 40, 41, 10_000]) {
        const value = JSON.stringify('x'.repeat(size - 2));
        const [found, next] = scanDocument(cut(document(value)), glance, { valueBytes: 40 });
        expect(found).toEqual({
          path: ['a'],
          kind: 'string',
          start: 5,
          names: 0,
          end: 5 + size,
          text: size > 40 ? '' : value,
        });
        expect(next?.text).toBe('1');
      }
    }
  });

  it('may be nested as deep as its size allows', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(scanDocument([document(deep)], keepFields)[0]?.text).toBe(deep);
    expect(scanDocument(cutAt(document(deep), 77_777), keepFields)[0]?.text).toBe(deep);
  });

  it('is not changed by later writes of the caller to the chunk', () => {
    const first = Buffer.from('{"a":"keep');
    const found = [first, Buffer.from(' me"}')];
    const texts: string[] = [];
    const treat: Treat = (path) => {
      texts.push(formatPath(path));
      return keepFields(path, 'string');
    };
    expect(scanDocument(found, treat)[0]?.text).toBe('"keep me"');
    expect(texts).toEqual(['', 'a']);
  });
});

describe('a value that is skipped, previewed or kept', () => {
  const treatments = ['skip', 'glance', 'keep'] as const;
  const scan = (value: string, treatment: Treatment, valueBytes = 1_000_000) => {
    const treat: Treat = (path) => (path[0] === 'a' ? treatment : 'enter');
    for (const pieces of [[Buffer.from(`{"a":${value},"b":1}`)], byteByByte(Buffer.from(`{"a":${value},"b":1}`))])
      scanDocument(pieces, treat, { valueBytes });
  };

  it.each<[value: string, message: string]>([
    ['[1}', 'unexpected "}", expected "," or "]"'],
    ['{"x":1]', 'unexpected "]", expected "," or "}"'],
    ['[1 2]', 'unexpected "2", expected "," or "]"'],
    ['[1,]', 'unexpected "]", expected a value'],
    ['{"x":1,}', 'unexpected "}", expected a field name in double quotes'],
    ['{"x" 1}', 'unexpected "1", expected ":"'],
    ['{1:1}', 'unexpected "1", expected a field name in double quotes'],
    ['[1"A[]', 'expected a value: a number, true, false or null is invalid'],
    ...['01', '1.', '.5', '+1', '-', '1e', 'tru', 'nulL', 'NaN', "'x'", 'é'].map((scalar): [string, string] => [
      scalar,
      'expected a value: a number, true, false or null is invalid',
    ]),
    ['"\n"', 'unescaped control character in a string'],
    ['"\\x"', 'invalid escape in a string'],
    ['"\\u12g4"', 'invalid escape in a string'],
    ['["\\ud83d"]', 'unpaired surrogate in an escape'],
    ['"\\ud83dx\\ude00"', 'unpaired surrogate in an escape'],
    ['"\\ud83d\\n"', 'unpaired surrogate in an escape'],
  ])('is rejected in each of these modes: %j', (value, message) => {
    for (const treatment of treatments) {
      expect(faultOf(() => scan(value, treatment)).message, treatment).toBe(message);
      const large = `[${'0,'.repeat(100)}${value}]`;
      if (treatment !== 'keep') expect(faultOf(() => scan(large, treatment, 40)).message).toBe(message);
    }
  });

  it('may have numbers of 1,000 bytes, and not one byte more', () => {
    for (const treatment of treatments) {
      scan('1'.repeat(1_000), treatment);
      expect(faultOf(() => scan('1'.repeat(1_001), treatment)).message).toBe('a number has more than 1000 bytes');
    }
  });

  it('may be nested in 1,000,000 levels, and not in one more', () => {
    const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`;
    const treat: Treat = (path) => (path.length === 0 ? 'enter' : 'skip');
    const scanNested = (value: string) => scanDocument([Buffer.from(`{"a":${value}}`)], treat);
    expect(scanNested(nested(1_000_000))).toHaveLength(1);
    expect(faultOf(() => scanNested(nested(1_000_002))).message).toBe('more than 1000000 levels of nesting');
  });
});

describe('a path', () => {
  it.each([
    [[], ''],
    [['orgs'], 'orgs'],
    [['orgs', 3, 'humanUsers', 17], 'orgs[3].humanUsers[17]'],
    [['manifest', 'counts'], 'manifest.counts'],
  ])('%j is written as %j', (path, text) => {
    expect(formatPath(path)).toBe(text);
  });
});

describe('parseJson', () => {
  it('returns the same as JSON.parse', () => {
    expect(parseJson('{"a":[1,"\\ud83d\\ude00"]}', [])).toEqual({ a: [1, '\u{1f600}'] });
  });

  it.each(['', '01', '1.', '.5', '+1', 'nul', 'NaN', "'a'", '[1,]', '{"a":1,}', '"\n"', '"\\x"', '"\\u12"', '[1}'])(
    'rejects %j with the path of the value',
    (text) => {
      expect(faultOf(() => parseJson(text, ['orgs', 0])).path).toEqual(['orgs', 0]);
    },
  );

  it('accepts a backslash that only looks like an escape', () => {
    expect(parseJson('"\\\\ud800"', [])).toBe('\\ud800');
  });
});
