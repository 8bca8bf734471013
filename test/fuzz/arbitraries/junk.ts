import fc from 'fast-check';
import type { Scalar } from './jsonTree.ts';

/** Texts that have broken parsers, databases or renderers before. */
const oddStrings: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\u0001\u001f\u007f',
  '\ufeff',
  '\u202e\u2066',
  'e\u0301\u0301\u0301',
  'ß İ ı ſ ǆ',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  '\uffff',
  '\ud800',
  '\udc00\ud800',
  '__proto__',
  'constructor',
  'toString',
  '../../etc/passwd',
  '%00%ff%',
  '<script>alert(1)</script>',
  "' OR 1=1; --",
  '{{7*7}}#{7*7}',
  '@',
  'a@b',
  'a@b.c',
  'true',
  'null',
  '1',
  '-1',
  'NaN',
  '1e400',
  '0001-01-01T00:00:00Z',
  '2024-02-30T25:61:61Z',
  '9999-12-31T23:59:59.999999999Z',
  '1h',
  '-1s',
  '9223372036854775807ns',
  '315576000001s',
  '0s',
  '====',
  'AAAA',
  'gcs://x',
  'USER_STATE_ACTIVE',
  'STATE_UNSPECIFIED',
  '$2a$12$',
  '$argon2id$v=19$m=4294967295,t=4294967295,p=255$AAAA$AAAA',
  '$2a$31$aPbwhMVJSVrRRW2NoM/5.esSJO6o/EIGzGxWiM5SAEZlGqCsr9DAK',
];

const oddNumbers = [
  ...['0', '-0', '-1', '1.5', '1e2', '1E+2', '1e999', '-1e999', '1e-999', '2147483648', '4294967296', '0.1e1'],
  ...['9007199254740993', '18446744073709551616', '253402300800', '3.0000000000000000000001'],
];

const oddValues = ['null', 'true', 'false', '{}', '[]', '[[]]', '[null]', '{"":""}', '"\\ud800"', '"\\u0000"', '"\\/"'];

/** Texts that are not JSON. */
const noJson = [
  ...['00', '+1', '.5', '1.', '0x10', 'NaN', 'Infinity', '1_0', 'undefined', "'x'", '"', '"\\', '{', ']', '', ',', ':'],
  ...['"\\x"', '"\\u12"', '"\t"', '"a\nb"', '/**/1', 'nul', '-', '1e'],
];

/** The number of repetitions: sizes around known limits, and few large ones. */
export const repeats: fc.Arbitrary<number> = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom(0, 1, 2, 70, 71, 199, 200, 201, 255, 256, 257, 500, 501, 1024, 1025) },
  { weight: 1, arbitrary: fc.constantFrom(4_097, 16_385, 65_537, 500_001) },
);

/** Any text: usual, odd, of any characters, rarely long. */
export const anyString: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...oddStrings) },
  { weight: 2, arbitrary: fc.string({ maxLength: 20 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 10 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom('a', 'é', '\u{1f600}', '\0'), repeats).map(([part, n]) => part.repeat(n)),
  },
);

const nested = fc
  .tuple(fc.constantFrom(['[', ']'], ['{"a":', '}'], ['{"orgs":[', ']}']), repeats, fc.boolean())
  .map(([[open = '', close = ''], n, isClosed]) => `${open.repeat(n)}1${isClosed ? close.repeat(n) : ''}`);

/** Any JSON, and rarely texts that are almost JSON. */
export const anyTree: fc.Arbitrary<Scalar> = fc
  .oneof(
    { weight: 12, arbitrary: anyString.map((text) => JSON.stringify(text)) },
    { weight: 8, arbitrary: fc.constantFrom(...oddNumbers) },
    { weight: 8, arbitrary: fc.constantFrom(...oddValues) },
    { weight: 1, arbitrary: fc.constantFrom(...noJson) },
    { weight: 1, arbitrary: nested },
    { weight: 2, arbitrary: fc.json({ maxDepth: 3 }) },
  )
  .map((text) => ({ text }));
