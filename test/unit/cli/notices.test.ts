import { describe, expect, it } from 'vitest';
import { noticeLines, noticeSection, noticeText } from '../../../cli/notices.ts';

describe('a notice', () => {
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
