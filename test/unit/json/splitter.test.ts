import { describe, expect, it } from 'vitest';
import { formatPath } from '../../../shared/json/jsonError.ts';
import { JsonSplitter, type SplitValue, type Treat, uniqueValue } from '../../../shared/json/splitter.ts';
import { byteByByte, cutAt, enterAll, errorOf, keepAt, splitDocument } from './splitDocument.ts';

const keep: Treat = () => 'keep';
const keepFields = keepAt(1);

/** Splits a document, and reads each kept value as a value with unique names. */
function split(pieces: readonly Uint8Array[], treat: Treat): readonly SplitValue[] {
  const found = splitDocument(pieces, treat);
  for (const value of found) if (value.text !== '') uniqueValue(value);
  return found;
}

// Everything that can be misread at a cut: escapes, quotes, brackets in texts, white space, scalars, and characters of 2 to 4 bytes.
const tricky = Buffer.from(
  ' {"a\\"b" : "x\\\\", "\\u00e9":"\\ud83d\\ude00","e":"",\r\n"list":[1,-2.5e+3,true,false,null] ,"deep":{"s":"]}\\"[{","é":[[],{},[{"z":"é–’漢🚀"}],"\\\\\\""]}\t,"n":12345\n, "last":null } \n',
);

describe('a document that arrives in pieces', () => {
  it.each([
    ['entered', enterAll],
    ['entered in part', keepAt(2)],
    ['kept', keep],
    ['skipped', () => 'skip'],
  ] satisfies [string, Treat][])('has the same values wherever it is cut, if it is %s', (_name, treat) => {
    const whole = split([tricky], treat);
    for (let position = 0; position <= tricky.length; position++)
      expect(split(cutAt(tricky, position), treat), `cut at ${position}`).toEqual(whole);
    expect(split(byteByByte(tricky), treat)).toEqual(whole);
  });

  it('is rejected wherever it ends early', () => {
    for (let position = 0; position <= tricky.lastIndexOf('}'); position++)
      expect(errorOf(() => split([tricky.subarray(0, position)], keepFields)).message).toBe(
        'unexpected end of JSON input',
      );
  });
});

describe('a value', () => {
  const found = splitDocument([tricky], keepFields);

  it('has its path, kind, text, offsets and number of names', () => {
    expect(found.map(({ path, kind, names }) => [...path, kind, names])).toEqual([
      ['a"b', 'string', 0],
      ['é', 'string', 0],
      ['e', 'string', 0],
      ['list', 'array', 0],
      ['deep', 'object', 3],
      ['n', 'scalar', 0],
      ['last', 'scalar', 0],
    ]);
    for (const { start, end, text } of found) expect(tricky.toString('utf8', start, end)).toBe(text);
    expect(Object.fromEntries(found.map(({ path, value }) => [path[0], value]))).toEqual(JSON.parse(tricky.toString()));
  });

  it('has offsets but no text if it is skipped', () => {
    const skipped = splitDocument([tricky], ({ length }) => (length === 0 ? 'enter' : 'skip'));
    expect(skipped).toEqual(found.map((value) => ({ ...value, text: '', value: undefined })));
  });

  it('is announced with its offset, and shows its start until it is skipped', () => {
    const starts: number[] = [];
    const splitter = new JsonSplitter(
      ({ length }, _kind, start) => {
        starts.push(start);
        return length === 0 ? 'enter' : 'skip';
      },
      { valueBytes: 100, fields: 1 },
    );
    splitter.push(Buffer.from(' {"a" : "b'));
    expect([starts, splitter.skippedStart]).toEqual([[1, 8], 8]);
    splitter.push(Buffer.from('"'));
    expect(splitter.skippedStart).toBeUndefined();
  });
});

const SCALAR = 'expected a value, but found an invalid number, or a misspelled true, false or null';
const TEXT = 'invalid escape, or an unescaped control character, in a text';
const SPACE = 'U+00A0 (a special space: replace it with an ordinary space)';
const INVISIBLE = 'U+200B (an invisible character: remove it)';
const LINE = 'U+2028 (a special line break: replace it with an ordinary line break)';
const quoteMark = (code: string) => `U+${code} (a typographic quote: replace it with ")`;
const NAME = 'expected a field name in double quotes';
const END = 'unexpected end of JSON input';
const MORE = 'unexpected data after the end of the document';
const PAIR = 'unpaired surrogate in an escape';

/** Documents that are not JSON, with the error's path and message. */
const invalid: readonly (readonly [json: string, path: string, message: string])[] = [
  ['', '', END],
  [' \n', '', END],
  ['{"a":1', 'a', END],
  ['{"a":[{"b":"x', 'a[0].b', END],
  ['{"a":1}{', '', 'unexpected second document (use one document per file) after the end of the document'],
  ['{"a":1}\u001a', '', 'unexpected padding (byte 26: remove it) after the end of the document'],
  ['{"a":1}\0', '', 'unexpected padding (byte 0: remove it) after the end of the document'],
  ['{"a":1},', '', MORE],
  ['{"a":1} x', '', MORE],
  ['{"a":1}]', '', MORE],
  ['{a:1}', '', `unexpected "a", ${NAME}`],
  ["{'a':1}", '', `unexpected "'", ${NAME}`],
  ['{é:1}', '', `unexpected "é", ${NAME}`],
  ['{\u201ea\u201c:1}', '', `unexpected ${quoteMark('201E')}, ${NAME}`],
  ['{"x":{"a"\uff1a1}}', 'x.a', 'unexpected U+FF1A (a full-width character: replace it with :), expected ":"'],
  [
    '{"x":[1\uff0c2]}',
    'x[0]',
    'unexpected U+FF0C (a full-width character: replace it with ,) in a number, true, false or null',
  ],
  ['{"x":[1 \u2028]}', 'x[0]', `unexpected ${LINE}, expected "," or "]"`],
  ['{"x":{"a":1\u00a0}}', 'x.a', `unexpected ${SPACE} in a number, true, false or null`],
  ['{"x":[]\u200b}', 'x', `unexpected ${INVISIBLE}, expected "," or "}"`],
  ['{"a":1}\u200b', '', `unexpected ${INVISIBLE} after the end of the document`],
  ['{,"a":1}', '', `unexpected ",", ${NAME}`],
  ['{"x":{"a":1,}}', 'x.a', `unexpected "}", ${NAME}`],
  ['{"x":[{"a":1},{b:1}]}', 'x[1]', `unexpected "b", ${NAME}`],
  ['{"x":{1:1}}', 'x', `unexpected "1", ${NAME}`],
  ['{"x":{"a" 1}}', 'x.a', 'unexpected "1", expected ":"'],
  ['{"x":{"a":}}', 'x.a', 'unexpected "}", expected a value'],
  ['{"x":{"a":,"b":1}}', 'x.a', 'unexpected ",", expected a value'],
  ['{"x":{"a"::1}}', 'x.a', 'unexpected ":", expected a value'],
  ['{"x":{"a":1 "b":2}}', 'x.a', 'unexpected "\\"", expected "," or "}"'],
  ['{"x":{"b":1]}', 'x.b', 'unexpected "]", expected "," or "}"'],
  ['{"x":[1}}', 'x[0]', 'unexpected "}", expected "," or "]"'],
  ['{"x":[1 2]}', 'x[0]', 'unexpected "2", expected "," or "]"'],
  ['{"x":[1,]}', 'x[1]', 'unexpected "]", expected a value'],
  ['{"x":[,1]}', 'x[0]', 'unexpected ",", expected a value'],
  ...(
    [
      ['é', '"é"'],
      ['\ufeff1', 'U+FEFF (an invisible character: remove it)'],
      ['\u00a01', SPACE],
      ['\u201cx\u201d', quoteMark('201C')],
    ] as const
  ).map(([value, what]) => [`{"x":[{"a":${value} }]}`, 'x[0].a', `unexpected ${what}, expected a value`] as const),
  ['{"x":[1,{"y":["1\t"]}]}', 'x[1].y[0]', TEXT],
  ...['01', '1.', '.5', '+1', '-', '1e', 'tru', 'nulL', 'NaN', "'x'", '0x1', '1:2', '1"A"'].map(
    (scalar) => [`{"x":[{"a":${scalar} }]}`, 'x[0].a', SCALAR] as const,
  ),
  ...['\n', '\0', '\\x', '\\u12', '\\u12g4'].map((text) => [`{"x":[{"a":"${text}"}]}`, 'x[0].a', TEXT] as const),
  ...['\\ud83d', '\\uDE00', '\\ud83dx\\ude00', '\\ud83d\\n', '\\ud83d\\ud83d\\ude00'].map(
    (text) => [`{"x":[{"a":"${text}"}]}`, 'x[0].a', PAIR] as const,
  ),
  ['{"x":{"a":1,"b":2,"a":3}}', 'x.a', 'duplicate field "a"'],
  ['{"x":[{"é":1,"\\u00e9":2}]}', 'x[0].é', 'duplicate field "é"'],
  ['{"x":{"" : 1, ""\n:2}}', 'x.', 'duplicate field ""'],
  ['{"x":{"x\\"\\\\":1,"x\\"\\\\":2}}', 'x.x"\\', 'duplicate field "x\\"\\\\"'],
  ['{"x":{"__proto__":1,"__proto__":2}}', 'x.__proto__', 'duplicate field "__proto__"'],
];

/** Invalid UTF-8 in a text: half a character, an overlong form, half of a surrogate pair, and more than Unicode has. */
const invalidUtf8 = [[0xff], [0xc3, 0x28], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x80], [0xf4, 0x90, 0x80, 0x80]];

describe('invalid JSON', () => {
  it.each(invalid)('is rejected with the path of the error, if it is entered or kept: %j', (json, path, message) => {
    for (const treat of [enterAll, keepFields, keepAt(2)]) {
      for (const pieces of [[Buffer.from(json)], byteByByte(Buffer.from(json))]) {
        const error = errorOf(() => split(pieces, treat));
        // The path of a kept value that ends early is its own.
        if (message === END) expect(path.startsWith(formatPath(error.path))).toBe(true);
        else expect(formatPath(error.path)).toBe(path);
        expect(error.message).toBe(message);
      }
    }
  });

  it.each(invalidUtf8)('is rejected for invalid UTF-8: %#', (...bytes) => {
    for (const [before, after] of [
      ['{"x":{"a":"', '"}}'],
      ['{"x":{"a', '":1}}'],
    ] as const) {
      const document = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
      for (const treat of [enterAll, keepFields])
        for (const pieces of [[document], byteByByte(document)])
          expect(errorOf(() => split(pieces, treat))).toMatchObject({
            message: expect.stringMatching(/^invalid UTF-8 .*: convert the file, for example with `iconv -f /),
            position: before.length,
          });
    }
  });

  it.each([
    ['a letter of Windows-1252', [0x61, 0xf6, 0x62], 'byte 0xF6, which is "ö" in Windows-1252'],
    ['half of a character before a letter', [0x61, 0xef, 0x73], 'byte 0xEF, which is "ï" in Windows-1252'],
    ['a no-break space of Windows-1252', [0x61, 0xa0, 0x62], 'byte 0xA0, which is U+00A0 in Windows-1252'],
    ['two bytes of another encoding', [0x83, 0x8f, 0x62], 'byte 0x83'],
  ])('is rejected with the encoding if it is likely: %s', (_what, bytes, described) => {
    const document = Buffer.concat([Buffer.from('{"x":"'), Buffer.from(bytes), Buffer.from('"}')]);
    const encoding = described.includes('1252') ? 'WINDOWS-1252' : 'ENCODING';
    expect(errorOf(() => split([document], enterAll)).message).toBe(
      `invalid UTF-8 (${described}): convert the file, for example with \`iconv -f ${encoding} -t UTF-8\``,
    );
  });

  it.each([
    ['{"x":[1,\n}', 9],
    ['{"x":{"a":{"b":1,"c" 2}}}', 21],
    ['{"x":{"a":[01]}}', 11],
    ['{"a":1} x', 8],
  ])('is rejected with the position of the error: %j', (json, position) => {
    for (const treat of [enterAll, keepFields])
      for (const pieces of [[Buffer.from(json)], byteByByte(Buffer.from(json))])
        expect(errorOf(() => split(pieces, treat)).position).toBe(position);
  });

  it('is rejected as incomplete if it ends inside a character', () => {
    const document = Buffer.from('{"a":1}\u00a0').subarray(0, -1);
    for (const pieces of [[document], byteByByte(document)])
      expect(errorOf(() => split(pieces, enterAll)).message).toBe(END);
  });

  it('is rejected without a quotation of it, because it may be a secret', () => {
    const document = Buffer.from('{"x":{"password":secret}}');
    for (const treat of [enterAll, keepFields]) expect(errorOf(() => split([document], treat)).message).toBe(SCALAR);
  });

  it.each([
    '{"a":[{"a":{"a":1}},{"a":1}],"__proto__":1,"constructor":2,"toString":3}',
    '{"a":"b\\":","c":"{\\"a\\":1,\\"a\\":2}","d":["a","a"]}',
    '{"a":"\\\\ud800\\ud83d\\ude00\\uD83D\\uDE00"}',
    '{"a":[{},[],"x",1,null]}',
  ])('does not include %s', (json) => {
    for (const treat of [enterAll, keepFields, keep]) expect(() => split([Buffer.from(json)], treat)).not.toThrow();
  });
});

describe('the limits of a document', () => {
  const document = (value: string) => Buffer.from(`{"a":${value},"b":1}`);

  it.each([
    ['text', (size: number) => JSON.stringify('x'.repeat(size - 2))],
    ['object', (size: number) => JSON.stringify({ a: 'x'.repeat(size - 8) })],
    ['number', (size: number) => '1'.repeat(size)],
  ])('are the size of a kept %s, but not of a skipped one', (_kind, make) => {
    for (const cut of [(bytes: Buffer) => [bytes], byteByByte]) {
      expect(splitDocument(cut(document(make(40))), keepFields, { valueBytes: 40 })[0]?.text).toHaveLength(40);
      const { message, path } = errorOf(() => splitDocument(cut(document(make(41))), keepFields, { valueBytes: 40 }));
      expect({ message, path }).toEqual({ message: 'the value exceeds 40 bytes', path: ['a'] });
      const skip: Treat = (path) => (path[0] === 'a' ? 'skip' : 'enter');
      expect(splitDocument(cut(document(make(10_000))), skip, { valueBytes: 40 })).toHaveLength(2);
    }
  });

  it('are the size of a kept value before its end, because it may never come', () => {
    const splitter = new JsonSplitter(keepFields, { valueBytes: 40, fields: 1 });
    splitter.push(Buffer.from(`{"a":"${'x'.repeat(39)}`));
    expect(errorOf(() => splitter.push(Buffer.from('x'))).message).toBe('the value exceeds 40 bytes');
  });

  it('are 100 levels of nesting in a kept or skipped value', () => {
    const nested = (levels: number) => Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`);
    for (const treat of [keep, (): 'skip' => 'skip']) {
      expect(split([nested(100)], treat)).toHaveLength(1);
      for (const pieces of [[nested(101)], byteByByte(nested(101))])
        expect(errorOf(() => split(pieces, treat)).message).toBe('more than 100 levels of nesting');
    }
  });

  it('are the number of fields of an entered object', () => {
    const bytes = Buffer.from('{"a":{"b":1,"c":2,"d":3}}');
    expect(splitDocument([bytes], enterAll, { fields: 3 })).toHaveLength(3);
    expect(errorOf(() => splitDocument([bytes], enterAll, { fields: 2 })).message).toBe('more than 2 fields');
    expect(splitDocument([bytes], keepFields, { fields: 2 })).toHaveLength(1);
  });
});

describe('a value that is too large to keep', () => {
  const glance: Treat = ({ length }) => (length === 0 ? 'enter' : 'glance');
  const long = 'x'.repeat(50);
  const glanceAt = (pieces: readonly Uint8Array[]) => splitDocument(pieces, glance, { valueBytes: 40 });

  it.each([
    `{"t":"${long}"}`,
    `{"t":"${long}\\\\\\"\\u00e9\\ud83d\\ude00é–🚀"}`,
    `"${long}\\\\\\"\\u00e9\\ud83d\\ude00é–🚀\\\\"`,
    `[{"a":[[],{},-1.5e3,true,null," ]}"]}, "${long}" , {"a":{"a":"\\\\"}}]`,
  ])('is dropped if it is JSON, wherever it is cut: %s', (value) => {
    const document = Buffer.from(`{"a":${value},"b":1}`);
    const whole = glanceAt([document]);
    expect(whole.map(({ path, text }) => [path[0], text])).toEqual([
      ['a', ''],
      ['b', '1'],
    ]);
    for (let position = 0; position <= document.length; position++)
      expect(glanceAt(cutAt(document, position)), `cut at ${position}`).toEqual(whole);
    expect(glanceAt(byteByByte(document))).toEqual(whole);
  });

  it.each([
    [`{"t":"${long}","q":[}},{}]]`, 'a.q[0]', 'unexpected "}", expected a value'],
    [`{"t":"${long}","u":{"v":"q"} tru, 01 "a" }`, 'a.u', 'unexpected "t", expected "," or "}"'],
    [`{"t":"${long}","u":01}`, 'a.u', SCALAR],
    [`{"t":"${long}","t":1}`, 'a.t', 'duplicate field "t"'],
    [`{"t":"${long}"]`, 'a.t', 'unexpected "]", expected "," or "}"'],
    [`{"t":"${long}\\x"}`, 'a.t', 'invalid escape, or an unescaped control character, in a text'],
    [`{"t":"\\ud83d${long}"}`, 'a.t', 'unpaired surrogate in an escape'],
    [`"${long}\n"`, 'a', 'invalid escape, or an unescaped control character, in a text'],
    ['1'.repeat(50), 'a', 'the value exceeds 40 bytes'],
  ])('is rejected if it is not JSON: %s', (value, path, message) => {
    const document = Buffer.from(`{"a":${value},"b":1}`);
    for (const pieces of [[document], byteByByte(document), cutAt(document, 60)]) {
      const error = errorOf(() => glanceAt(pieces));
      expect([formatPath(error.path), error.message]).toEqual([path, message]);
    }
  });
});

it('a splitter keeps its own copy of unfinished bytes', () => {
  const splitter = new JsonSplitter(keepFields, { valueBytes: 100, fields: 1 });
  const chunk = Buffer.from('{"a":"keep');
  splitter.push(chunk);
  chunk.fill(0);
  expect(splitter.push(Buffer.from(' me"}'))[0]?.value).toBe('keep me');
});

describe('a path', () => {
  it.each([
    [[], ''],
    [['orgs', 3, 'humanUsers', 17], 'orgs[3].humanUsers[17]'],
    [['manifest', 'counts'], 'manifest.counts'],
  ])('%j is written as %j', (path, text) => {
    expect(formatPath(path)).toBe(text);
  });
});
