/** Returns random numbers from 0 to `below`, the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Draws a number from 0 to below the given number. */
export type Random = ReturnType<typeof randomNumbers>;

const keys = [
  'orgs',
  'orgId',
  'org',
  'humanUsers',
  'manifest',
  'digest',
  'data_orgs',
  'dry_run',
  'x',
  'u',
  '',
  '\\u0061',
  'a',
];
const goodScalars = ['0', '-0', '12', '-1.5e+3', '1E-2', '0.10', 'true', 'false', 'null', '9'.repeat(40)];
const badScalars = [
  '01',
  '1.',
  '.5',
  '+1',
  '-',
  '1e',
  '1e+',
  'tru',
  'truee',
  'nul',
  'NaN',
  '1"A[',
  '1"',
  '0x1',
  '1]',
  "'a'",
  '1:',
];
const goodTexts = [
  '',
  'a',
  'é',
  '漢',
  '🚀',
  '\\"',
  '\\\\',
  '\\/',
  '\\u00e9',
  '\\ud83d\\ude00',
  ']}',
  '{[',
  ',',
  ':',
  '\\n',
  '\u007f',
];
const badTexts = [
  '\n',
  '\0',
  '\\x',
  '\\u12',
  '\\u12g4',
  '\\ud83d',
  '\\ude00',
  '\\ud83d\\ud83d',
  '\\ud83dx',
  '\\',
  '"',
  '\ud800',
];
const goodSpaces = ['', '', '', '', ' ', '\n', '\t', '\r\n  '];
const badSpaces = ['\f', '\u00a0', '/**/', ',', ']', '}', '\ufeff', '\0'];
/** The bytes to insert into bytes, or to replace one of them. */
const bytes = Buffer.from([
  ...Buffer.from('{}[]",:\\ 019-eE+.tfnud8aé\n'),
  0x00,
  0x1f,
  0x7f,
  0x80,
  0xbf,
  0xc3,
  0xed,
  0xa0,
  0xf0,
  0xff,
]);

/** The grammar of JSON, with similar invalid texts: `wrong` of a thousand choices are not JSON. */
class Grammar {
  private readonly random: Random;
  private readonly wrong: number;

  constructor(random: Random, wrong: number) {
    this.random = random;
    this.wrong = wrong;
  }

  document(): string {
    return this.space() + this.object(0) + this.space();
  }

  /** Like `document`, but with the lists of an export file where a reader expects them. */
  file(): string {
    const entries = Array.from({ length: this.random(4) }, () => {
      const lists = ['humanUsers', 'projects'].map((name) => `"${name}"${this.space()}:${this.space()}${this.list(1)}`);
      return `${this.space()}{${this.joined(['"orgId":"o"', ...lists, `"x":${this.value(1)}`])}}${this.space()}`;
    });
    const orgs = `"orgs"${this.space()}:[${this.joined(entries)}]`;
    return `${this.space()}{${this.joined([orgs, `"manifest":${this.value(1)}`])}}${this.space()}`;
  }

  private pick(good: readonly string[], bad: readonly string[]): string {
    const from = this.isWrong() ? bad : good;
    return from[this.random(from.length)] ?? '';
  }

  private isWrong(): boolean {
    return this.random(1_000) < this.wrong;
  }

  private space(): string {
    return this.pick(goodSpaces, badSpaces);
  }

  private value(depth: number): string {
    const kind = this.random(depth > 5 ? 2 : 5);
    if (kind === 0) return this.pick(goodScalars, badScalars);
    if (kind === 1) return this.text();
    return kind === 2 ? this.object(depth + 1) : this.list(depth + 1);
  }

  private text(): string {
    const parts = Array.from({ length: this.random(4) }, () => this.pick(goodTexts, badTexts));
    return `"${parts.join('')}${this.isWrong() ? '' : '"'}`;
  }

  private object(depth: number): string {
    const fields = Array.from({ length: this.random(4) }, () => {
      const key = keys[this.random(keys.length)] ?? '';
      const colon = this.pick([':'], ['', '::', ',', ';']);
      return `${this.space()}"${key}"${this.space()}${colon}${this.space()}${this.value(depth)}${this.space()}`;
    });
    return `{${this.joined(fields)}${this.pick(['}'], [']', '', '}}'])}`;
  }

  private list(depth: number): string {
    const elements = Array.from({ length: this.random(4) }, () => this.space() + this.value(depth) + this.space());
    return `[${this.joined(elements)}${this.pick([']'], ['}', '', ']]'])}`;
  }

  private joined(parts: readonly string[]): string {
    return parts.join(this.pick([','], ['', ',,', ';'])) + (this.isWrong() ? ',' : '');
  }
}

/** Makes a document by the grammar, unchanged or with some of its bytes edited. */
export function hostileDocument(random: Random): Buffer {
  const wrong = [0, 0, 5, 30][random(4)] ?? 0;
  const grammar = new Grammar(random, wrong);
  let document = Buffer.from(random(2) === 0 ? grammar.file() : grammar.document());
  for (let edits = [0, 0, 1, 2][random(4)] ?? 0; edits > 0; edits--) {
    const at = random(document.length + 1);
    const inserted = random(4) > 0 ? [bytes[random(bytes.length)] ?? 0] : [];
    document = Buffer.concat([document.subarray(0, at), Buffer.from(inserted), document.subarray(at + random(2))]);
  }
  return document;
}

/** Splits bytes at random places. */
export function chunks(document: Buffer, random: Random): Buffer[] {
  const cuts = Array.from({ length: random(7) }, () => random(document.length + 1)).sort((a, b) => a - b);
  return [...cuts, document.length].map((end, index) => document.subarray(cuts[index - 1] ?? 0, end));
}
