/** Returns random integers from 0 up to, but excluding, `below`. The same seed gives the same numbers (mulberry32). */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Returns a random integer from 0 up to, but excluding, the given number. */
export type Random = ReturnType<typeof randomNumbers>;

const names = ['orgs', 'orgId', 'org', 'humanUsers', 'manifest', 'data_orgs', 'dry_run', 'x', 'u', '', '\\u0061', 'a'];
const scalars = ['0', '-0', '12', '-1.5e+3', '1E-2', '0.10', 'true', 'false', 'null', '9'.repeat(40)];
const texts = ['', 'a', 'é', '–', '🚀', '\\"', '\\\\', '\\/', '\\u00e9', '\\ud83d\\ude00', ']}', '{[', ',', ':', '\\n'];
const spaces = ['', '', '', '', ' ', '\n', '\t', '\r\n  '];
/** Texts that make most documents invalid, to insert or to overwrite a byte. */
const edits = [
  ...Array.from('{}[]",:\\ 019-eE+.tfnud8aé\n\f\0\u007f\u00a0\ufeff', (character) => Buffer.from(character)),
  ...['\\ud83d', '\\ude00', '\\ud83dx', '\\u12', '\\x', 'tru', '01', '1"A[', '0x1', "'a'", '::', '/**/', ',"a":1'].map(
    (text) => Buffer.from(text),
  ),
  ...[[0x80], [0xbf], [0xc3], [0xe2, 0x80], [0xed, 0xa0, 0x80], [0xf0], [0xff]].map((bytes) => Buffer.from(bytes)),
];

/** Writes random JSON with texts that a reader may mistake for structure. */
class Writer {
  private readonly random: Random;

  constructor(random: Random) {
    this.random = random;
  }

  /** Returns an export file, or any object or list. */
  document(): string {
    const kind = this.random(4);
    return this.spaced(kind === 0 ? this.list(0) : kind === 1 ? this.object(0) : this.file());
  }

  private file(): string {
    const lists = ['humanUsers', 'projects'].map((name) => `"${name}"${this.spaced(':')}${this.list(1)}`);
    const entry = () => this.spaced(`{"orgId":"o",${lists.join()},"x":${this.value(1)}}`);
    return `{"u":${this.value(1)},"orgs"${this.spaced(':')}[${this.some(entry)}],"manifest":${this.value(1)}}`;
  }

  private value(depth: number): string {
    const kind = this.random(depth > 5 ? 2 : 5);
    if (kind === 0) return this.spaced(this.pick(scalars));
    if (kind === 1) return this.spaced(`"${this.pick(texts)}${this.pick(texts)}${this.pick(texts)}"`);
    return this.spaced(kind === 2 ? this.object(depth + 1) : this.list(depth + 1));
  }

  private object(depth: number): string {
    return `{${this.some(() => `${this.spaced(`"${this.pick(names)}"`)}:${this.value(depth)}`)}}`;
  }

  private list(depth: number): string {
    return `[${this.some(() => this.value(depth))}]`;
  }

  private some(write: () => string): string {
    return Array.from({ length: this.random(4) }, write).join();
  }

  private spaced(text: string): string {
    return this.pick(spaces) + text + this.pick(spaces);
  }

  private pick(from: readonly string[]): string {
    return from[this.random(from.length)] ?? '';
  }
}

/** Creates a document of random JSON with up to two edits. Truncates some documents. */
export function randomDocument(random: Random): Buffer {
  let document = Buffer.from(new Writer(random).document());
  for (let count = [0, 0, 1, 2][random(4)] ?? 0; count > 0; count--) {
    const at = random(document.length + 1);
    const inserted = random(4) > 0 ? (edits[random(edits.length)] ?? '') : '';
    document = Buffer.concat([document.subarray(0, at), Buffer.from(inserted), document.subarray(at + random(2))]);
  }
  return random(12) === 0 ? document.subarray(0, random(document.length)) : document;
}

/** Cuts bytes into pieces at random positions. */
export function cutAtRandom(document: Buffer, random: Random): Buffer[] {
  const cuts = Array.from({ length: random(7) }, () => random(document.length + 1)).sort((a, b) => a - b);
  return [...cuts, document.length].map((end, index) => document.subarray(cuts[index - 1] ?? 0, end));
}
