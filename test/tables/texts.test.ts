import { describe, expect, it } from 'vitest';
import { outcomeLine } from '../../cli/exports/outcomeTexts.ts';
import { type Notice, noticeLines, noticeSection, noticeText } from '../../cli/terminal/notices.ts';
import { counted, countList, firstLines, sizeText } from '../../cli/terminal/numberTexts.ts';
import { commandLine, layOut, layOutTable, layoutOf, printableJson, section } from '../../cli/terminal/terminal.ts';
import { recordNoun, words } from '../../shared/errors/nouns.ts';
import { warn } from '../../shared/errors/warnings.ts';
import { sections } from '../../shared/organisation/allSections.ts';

const terminal = (columns: number, environment: NodeJS.ProcessEnv = { NO_COLOR: '1' }) =>
  layoutOf({ isTTY: true, columns }, environment);
const plain = layoutOf({}, {});

const report = [
  'moved',
  ...section('Warnings', ['one organisation has a name that takes more than a line', 'another warning']),
  ...section('Nothing', []),
  ...section('Next', [commandLine('identity migrate --from north.json --to sqlite:./a --yes')]),
];
const careful = [{ text: 'careful', style: 'warning' as const }];
const longId = '330000000000000201'.repeat(3);

describe('lines', () => {
  it.each([
    [
      'without a terminal',
      report,
      plain,
      `moved||Warnings|  one organisation has a name that takes more than a line|  another warning||Next|  identity migrate --from north.json --to sqlite:./a --yes`,
    ],
    [
      'at a terminal, with a command that still runs',
      report,
      terminal(40),
      `moved||Warnings|  one organisation has a name that takes|    more than a line|  another warning||Next|  identity migrate --from north.json \\|    --to sqlite:./a --yes`,
    ],
    [
      'with room for the mark of a wrapped command',
      [commandLine('identity migrate --from north.json --to sqlite:./a')],
      terminal(51),
      'identity migrate --from north.json --to \\|  sqlite:./a',
    ],
    ['with a word that is too long', [`user ${longId} stays`], terminal(20), `user|  ${longId}|  stays`],
    ['in colour', careful, terminal(40, { NO_COLOR: '' }), '\u001b[33mcareful\u001b[39m'],
    ['without colour by NO_COLOR', careful, terminal(40), 'careful'],
    ['without colour at a dumb terminal', careful, terminal(40, { TERM: 'dumb' }), 'careful'],
    ['without colour in a pipe', careful, plain, 'careful'],
    ['with control characters', ['a\u001b[2Jb\nc\u2028'], plain, 'a\\u{1b}[2Jb\\nc\\u{2028}'],
  ])('are laid out %s', (_name, lines, layout, text) => {
    expect(layOut(lines, layout)).toBe(text.replaceAll('|', '\n'));
  });
});

it('JSON output has escapes for every character that a terminal could interpret', () => {
  const value = { 'a\u009b2J': ['\u007f\u202e\u2028', '\u{e0001}\ud800', 'ä株😀"\\\n'] };
  const json = printableJson(value);
  expect(JSON.parse(json)).toEqual(value);
  expect(json).toBe(String.raw`{"a\u009b2J":["\u007f\u202e\u2028","\udb40\udc01\ud800","ä株😀\"\\\n"]}`);
});

async function* rowsOf(rows: Iterable<string[]>) {
  yield* rows;
}

describe('a table', () => {
  const rows = [
    ['330000000000000001', 'active', 'Acme Robotics'],
    ['2', 'inactive', '株式会社'],
    ['3', 'active', 'forged\nrow\t'],
  ];
  const aligned = `id                  state     name
330000000000000001  active    Acme Robotics
2                   inactive  株式会社
3                   active    forged\\nrow\\t`;

  it.each([
    [
      'in a pipe',
      plain,
      '330000000000000001\tactive\tAcme Robotics\n2\tinactive\t株式会社\n3\tactive\tforged\\nrow\\t',
    ],
    ['at a terminal', terminal(80), aligned],
    ['at a terminal as wide as its rows', terminal(43), aligned],
    [
      'at a narrow terminal',
      terminal(42),
      rows
        .map(
          ([id, state, name = '']) =>
            `id     ${id}\nstate  ${state}\nname   ${name.replace('\n', '\\n').replace('\t', '\\t')}`,
        )
        .join('\n\n'),
    ],
  ])('is laid out %s', async (_name, layout, text) => {
    expect(await Array.fromAsync(layOutTable(['id', 'state', 'name'], rowsOf(rows), layout))).toEqual(text.split('\n'));
  });

  it('measures wide characters', async () => {
    const wide = rowsOf([
      ['株式会社', 'x'],
      ['a', 'y'],
    ]);
    expect(await Array.fromAsync(layOutTable(['a', 'b'], wide, terminal(80)))).toEqual([
      'a         b',
      '株式会社  x',
      'a         y',
    ]);
  });

  it('is shown while it is read, with its heads once', async () => {
    function* endless() {
      for (let index = 0; ; index++) yield [String(index)];
    }
    const lines: string[] = [];
    for await (const line of layOutTable(['id'], rowsOf(endless()), terminal(80)))
      if (lines.push(line) === 1_000) break;
    expect(lines.filter((line) => line === 'id')).toHaveLength(1);
    expect(lines.at(-1)).toBe('998');
  });
});

const about = (id: string, message: string): Notice => ({ type: 'human_user', id, message });
const numbered = (count: number, message: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => about(`${index}`, message(index)));
const argon = numbered(482, () => 'argon2 hashes are verified only if enabled');
const passwords = ['ada', 'bob'].map((id) => about(id, 'has no password'));
const withParams = (count: number, reason: string, params: (index: number) => Notice['params']) =>
  numbered(count, () => 'reworded').map((notice, index) => ({ ...notice, reason, params: params(index) }));
const taken = (count: number): Notice[] => [
  ...withParams(count, 'login_name_taken', (index) => ({ name: `name ${index}`, holder: `holder ${index}` })),
  about('odd', 'has no password'),
];
const invalid = (count: number): Notice[] =>
  withParams(count, 'value_invalid', (index) => ({
    field: `orgs[0].humanUsers[${index}].user.email.email`,
    problem: 'expected an address',
  }));
const lines = numbered(21, (index) => `line ${index}`).map(({ message }) => message);
const sectionTexts = (...given: Parameters<typeof noticeSection>) =>
  noticeSection(...given).map((line) => (typeof line === 'string' ? line : line.text));
const changedState = 'state changed: ORG_STATE_ACTIVE to ORG_STATE_INACTIVE';

/** Texts about numbers of records, and what they are. */
const texts: readonly (readonly [text: unknown, expected: unknown])[] = [
  [counted(0, 'record'), '0 records'],
  [counted(1, 'organisation'), '1 organisation'],
  [counted(30_680, 'record'), '30,680 records'],
  [counted(1, 'person'), '1 person'],
  [counted(20_000, 'person'), '20,000 people'],
  [counted(2, 'login policy'), '2 login policies'],
  [counted(2, 'app key'), '2 app keys'],
  [outcomeLine('created', { org: 1, humanUsers: 2 }), 'created: organisations 1, people 2'],
  [
    outcomeLine('not carried', { org: 1, appKeys: 3, state: 1, 'humanUsers.user.recoveryCodes': 1 }),
    'not carried: organisations 1, app keys 3, unknown field state 1, unknown field humanUsers.user.recoveryCodes 1',
  ],
  [countList({ org: 2, humanUsers: 30_680 }), 'organisations 2, people 30,680'],
  [sizeText(1), '0.1 kB'],
  [sizeText(512_000), '512 kB'],
  [sizeText(6_236_888), '6.3 MB'],
  [sizeText(1_500_000_000_000), '1,500 GB'],
  [firstLines(lines, 'error').at(-1), '1 more error; --json lists them'],
  [firstLines(lines, 'thing left to do', 1_999).at(-1), '2,000 more things left to do; --json lists 1'],
  [firstLines(lines.slice(1), 'warning', 7).at(-1), '7 more warnings'],
  [words('humanUsers'), 'people'],
  [words('org'), 'organisations'],
  [words('projectRoles'), 'project roles'],
  [words('constructor'), 'constructor'],
  [recordNoun('human_user_otp'), 'TOTP seed'],
  [recordNoun('state'), 'record'],
  [noticeLines(passwords, 'warning', 9)[0], 'at least 2 people: has no password: ada, bob'],
  [
    noticeLines(taken(4_000), 'error'),
    [
      '4,000 people: another user has the same login name: change one of the names: 0, 1, 2, and 3,997 more',
      'person odd: has no password',
    ],
  ],
  [
    noticeLines(invalid(4_000), 'error'),
    ['4,000 people: orgs.humanUsers.user.email.email: expected an address: correct the value: 0, 1, 2, and 3,997 more'],
  ],
  [
    noticeLines(taken(3), 'error').at(1),
    expect.stringMatching(/^person 1: another user .* login name name 1: holder 1:/),
  ],
  [
    noticeLines([...passwords, { ...about('eve', 'has no password'), further: 4_000 }], 'warning'),
    ['4,003 people: has no password: ada, bob, eve, and 4,000 more'],
  ],
  [
    noticeText({
      type: 'state',
      id: 'a',
      ...warn('state_changed', { before: 'ORG_STATE_ACTIVE', after: 'ORG_STATE_INACTIVE' }),
    }),
    'organisation a: state changed: active to inactive',
  ],
  [noticeText({ type: 'state', id: 'a', message: changedState }), `record a: ${changedState}`],
  [
    sectionTexts('warning', [...argon, about('eve', 'no password')]),
    [
      'Warnings',
      '482 people: argon2 hashes are verified only if enabled: 0, 1, 2, and 479 more',
      'person eve: no password',
    ],
  ],
  [sectionTexts('error', passwords), ['Errors', '2 people: has no password: ada, bob']],
  [sectionTexts('warning', []), []],
  [
    sectionTexts('warning', [...numbered(20, (index) => `warning ${index}`), ...argon]).at(-1),
    '482 more warnings; --json lists them',
  ],
];

describe('a text about records', () => {
  it.each(texts)('is %j', (text, expected) => {
    expect(text).toEqual(expected);
  });

  it.each(sections.map(({ name, error }) => [name, error.type]))('has one noun for %s and %s', (name, type) => {
    expect(recordNoun(type)).toBe(recordNoun(name));
    expect(words(name) + recordNoun(type)).not.toMatch(/_|[a-z][A-Z]/);
  });
});

it('an error is shown in its own style below its heading', () => {
  const error = { ...about('ada', 'ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting'), reason: 'record_exists' };
  expect(noticeSection('error', [error])).toMatchObject([
    { text: 'Errors', style: 'heading' },
    { text: expect.stringMatching(/^person ada: exists with other content/), style: 'bad', depth: 1 },
  ]);
});

it('an error has the text of the command, whatever the message of another version is', () => {
  const error = { type: 'project', id: 'a', message: 'reworded', params: { record: 'project', holder: 'b' } };
  expect(noticeText({ ...error, reason: 'name_taken' })).toMatch(
    /^project a: another project has the same name: b: change one of the names$/,
  );
  expect(noticeText({ ...error, reason: 'of_a_newer_server' })).toBe('project a: reworded');
  // The row of another version can have other parameters.
  expect(noticeText({ ...error, reason: 'reference_foreign' })).toBe('project a: reworded');
});
