import { describe, expect, it } from 'vitest';
import { commandLine, layOut, layOutTable, layoutOf, printableJson, section } from '../../../cli/terminal.ts';

const plain = layoutOf({}, {});
const terminal = (columns: number, environment = { NO_COLOR: '1' }) => layoutOf({ isTTY: true, columns }, environment);

describe('the layout of lines', () => {
  const lines = [
    'moved',
    ...section('Warnings', ['one organisation has a name that takes more than a line', 'another warning']),
    ...section('Nothing', []),
    ...section('Next', [commandLine('identity migrate resume --run-dir identity-migration-1 --yes')]),
  ];

  it('is plain and unwrapped without a terminal', () => {
    expect(layOut(lines, plain).split('\n')).toEqual([
      'moved',
      '',
      'Warnings',
      '  one organisation has a name that takes more than a line',
      '  another warning',
      '',
      'Next',
      '  identity migrate resume --run-dir identity-migration-1 --yes',
    ]);
  });

  it('is wrapped between words at a terminal, and a wrapped command still runs', () => {
    expect(layOut(lines, terminal(40)).split('\n')).toEqual([
      'moved',
      '',
      'Warnings',
      '  one organisation has a name that takes',
      '    more than a line',
      '  another warning',
      '',
      'Next',
      '  identity migrate resume --run-dir \\',
      '    identity-migration-1 --yes',
    ]);
    const id = '330000000000000201'.repeat(3);
    expect(layOut([`user ${id} stays`], terminal(20))).toBe(`user\n  ${id}\n  stays`);
  });

  it('has colour only at a terminal, unless NO_COLOR is set or the terminal is dumb', () => {
    const coloured = [{ text: 'careful', style: 'warning' as const }];
    expect(layOut(coloured, terminal(40, { NO_COLOR: '' }))).toBe('\u001b[33mcareful\u001b[39m');
    for (const layout of [plain, terminal(40), layoutOf({ isTTY: true, columns: 40 }, { TERM: 'dumb' })])
      expect(layOut(coloured, layout)).toBe('careful');
  });

  it('escapes control characters', () => {
    expect(layOut(['a\u001b[2Jb\nc\u2028'], plain)).toBe('a\\u{1b}[2Jb\\nc\\u{2028}');
  });
});

it('JSON output has escapes for every character that a terminal could interpret', () => {
  const value = { 'a\u009b2J': ['\u007f\u202e\u2028', '\u{e0001}\ud800', 'ä株😀"\\\n'] };
  const json = printableJson(value);
  expect(JSON.parse(json)).toEqual(value);
  expect(json).toBe(String.raw`{"a\u009b2J":["\u007f\u202e\u2028","\udb40\udc01\ud800","ä株😀\"\\\n"]}`);
});

describe('a table', () => {
  const rows = [
    ['330000000000000001', 'active', 'Acme Robotics'],
    ['2', 'inactive', '株式会社'],
    ['3', 'active', 'forged\nrow\t'],
  ];
  async function* read() {
    yield* rows;
  }
  const show = (columns?: number) =>
    Array.fromAsync(layOutTable(['id', 'state', 'name'], read(), columns === undefined ? plain : terminal(columns)));

  it('has cells between tabs, without heads, if there is no terminal', async () => {
    expect(await show()).toEqual([
      '330000000000000001\tactive\tAcme Robotics',
      '2\tinactive\t株式会社',
      '3\tactive\tforged\\nrow\\t',
    ]);
  });

  it('is aligned below its heads at a terminal', async () => {
    expect(await show(80)).toEqual([
      'id                  state     name',
      '330000000000000001  active    Acme Robotics',
      '2                   inactive  株式会社',
      '3                   active    forged\\nrow\\t',
    ]);
  });

  it('has one cell per line if a row is wider than the terminal', async () => {
    expect((await show(40)).slice(0, 5)).toEqual([
      'id     330000000000000001',
      'state  active',
      'name   Acme Robotics',
      '',
      'id     2',
    ]);
  });

  it('is shown while it is read, with its heads once', async () => {
    async function* endless() {
      for (let index = 0; ; index++) yield [String(index)];
    }
    const lines: string[] = [];
    for await (const line of layOutTable(['id'], endless(), terminal(80))) if (lines.push(line) === 1_000) break;
    expect(lines.filter((line) => line === 'id')).toHaveLength(1);
    expect(lines.at(-1)).toBe('998');
  });
});
