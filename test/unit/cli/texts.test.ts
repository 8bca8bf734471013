import { describe, expect, it } from 'vitest';
import {
  counted,
  countList,
  firstDifferences,
  firstLines,
  humanMessage,
  noticeLines,
  noticeSection,
  noticeText,
  sizeText,
} from '../../../cli/texts.ts';

describe('a number with its noun', () => {
  it.each([
    [0, 'record', '0 records'],
    [1, 'organisation', '1 organisation'],
    [30_680, 'record', '30,680 records'],
    [1, 'person', '1 person'],
    [20_000, 'person', '20,000 people'],
  ])('is for %i and %s: %s', (count, noun, text) => {
    expect(counted(count, noun)).toBe(text);
  });

  it('counts the lines that are not shown', () => {
    const lines = Array.from({ length: 21 }, (_, index) => `line ${index}`);
    expect(firstLines(lines, 'error').at(-1)).toBe('1 more error; --json lists them');
    expect(firstLines(lines, 'thing left to do', 1_999).at(-1)).toBe('2,000 more things left to do; --json lists 1');
    expect(firstLines(lines.slice(1), 'warning', 7).at(-1)).toBe('7 more warnings');
    expect(firstDifferences(lines, 100, 471).slice(19)).toEqual(['line 19', '471 records differ; --json lists 100']);
    expect(firstDifferences(lines, 15, 15).at(-1)).toBe('15 records differ; --json lists them');
    expect(firstDifferences(lines.slice(1), 20, 20)).toHaveLength(20);
    expect(countList({ org: 2, humanUsers: 30_680 })).toBe('organisations 2, people 30,680');
  });
});

describe('a number of bytes', () => {
  it.each([
    [1, '0.1 kB'],
    [512_000, '512 kB'],
    [6_236_888, '6.3 MB'],
    [1_500_000_000_000, '1,500 GB'],
  ])('is rounded for %i: %s', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});

const exists = /^exists with other content, in another organisation, or earlier in the file: --on-conflict overwrite/;

describe("the readable text of a server's message", () => {
  it.each([
    ['ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting', exists],
    ['ID=V2-e1wse Message=Errors.Already.Exists', exists],
    ['ID=ORG-lapo2n Errors.Org.AlreadyExisting', exists],
    ['ID=V3-DKcYh Message=Errors.User.AlreadyExists', /^another user has this login name/],
    ['ID=V3-DKcYh Message=Errors.Org.AlreadyExists', /^another record has this login name/],
    [
      'ID=ORG-GoXOn Errors.User.NotFound',
      /^refers to a record that was not imported, and that the target does not have there$/,
    ],
    [
      'ID=LANG-3 Errors.IDPConfig.NotExisting',
      /^refers to a record that was not imported, and that the target does not have there$/,
    ],
    [
      'ID=DOMAIN-HuJf6 Message=Errors.User.PasswordComplexityPolicy.MinLength',
      /^the password is too short or simple for its organisation's policy$/,
    ],
    ['ID=DOMAIN-dv3t5 Message=Errors.AuthNKey.ExpireBeforeNow', /^the key has expired$/],
    [
      'ID=Org-WSfdq Message=Errors.Org.LoginPolicy.RedirectURIInvalid',
      /^org login policy redirect uri invalid \(Org-WSfdq\)$/,
    ],
    [
      'the file has no machine keys: export with `with_keys`, or create new ones',
      /^the file has no machine keys: export with --with keys, or create new ones$/,
    ],
    [
      'invalid ImportDataOrg.Orgs[0]: embedded message failed validation | caused by: invalid DataOrg.ProjectRoles[7]: embedded message failed validation | caused by: invalid AddProjectRoleRequest.DisplayName: value length must be: 1',
      /^orgs\[0\]\.projectRoles\[7\]\.displayName: value length must be: 1$/,
    ],
    [
      'with_passwords must be a boolean, and of_others none',
      /^--with passwords must be a boolean, and of_others none$/,
    ],
  ])('is for %s: %s', (message, text) => {
    expect(humanMessage(message)).toMatch(text);
  });

  it('contains the number of all affected records, as far as it is known', () => {
    const notices = ['ada', 'bob'].map((id) => ({ type: 'human_user', id, message: 'has no password' }));
    const counted = [...notices, { type: 'human_user', id: 'eve', message: 'has no password', further: 4_000 }];
    expect(noticeLines(counted, 'warning')).toEqual(['4,003 people: has no password: ada, bob, eve, and 4,000 more']);
    expect(noticeLines(notices, 'warning', 9)[0]).toBe('at least 2 people: has no password: ada, bob');
  });

  it('is listed in notices, below the heading of its kind', () => {
    const error = { type: 'human_user', id: 'ada', message: 'ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting' };
    expect(noticeSection('error', [error])).toMatchObject([
      { text: 'Errors', style: 'heading' },
      { text: expect.stringMatching(/^person ada: exists with other content/), style: 'bad', depth: 1 },
    ]);
    expect(noticeSection('warning', [])).toEqual([]);
    const message = 'state changed: ORG_STATE_ACTIVE to ORG_STATE_INACTIVE';
    const reason = 'state_changed';
    expect(noticeText({ type: 'state', id: 'a', reason, message })).toBe(
      'organisation a: state changed: active to inactive',
    );
  });

  it('is printed once for all records that it concerns', () => {
    const of = (id: string, message: string) => ({ type: 'human_user', id, message });
    const many = Array.from({ length: 482 }, (_, index) => of(`${index}`, 'argon2 hashes are verified where enabled'));
    const texts = (notices: Parameters<typeof noticeSection>[1]) =>
      noticeSection('warning', notices).flatMap((line) => (typeof line === 'string' ? [] : [line.text]));
    expect(texts([...many, of('eve', 'no password')])).toEqual([
      'Warnings',
      '482 people: argon2 hashes are verified where enabled: 0, 1, 2, and 479 more',
      'person eve: no password',
    ]);
    const different = Array.from({ length: 20 }, (_, index) => of(`${index}`, `warning ${index}`));
    expect(texts([...different, ...many]).at(-1)).toBe('482 more warnings; --json lists them');
  });
});
