import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call, identityJson } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { newToken } from '../../support/instances/tokens.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { filledZitadel, tokenFileWith } from '../../support/zitadel/placeOfZitadel.ts';

const removals = z.strictObject({
  dryRun: z.boolean(),
  removed: z.number(),
  removals: z.array(z.looseObject({ user: z.string(), userId: z.string(), outcome: z.string() })),
});
const users = z.looseObject({ users: z.array(z.looseObject({ userId: z.string(), factors: z.array(z.string()) })) });
const event = z.looseObject({ event: z.string(), outcome: z.string(), target: z.string().optional() });
const events = z.looseObject({ events: z.array(event) });

const mailbox = (userId: string, address: string, user: object = {}, more: object = {}) => ({
  ...person(userId, { email: { email: address, isEmailVerified: true }, ...user }),
  ...more,
});
const factor = { otpEmail: true };
const withFactors = ['ada', 'ben', 'cy'];
const orgs = [
  organisation('north', {
    humanUsers: [
      mailbox('ada', 'ada@example.com', { userName: 'countess' }, factor),
      mailbox('ben', 'ben@example.com', {}, factor),
      mailbox('cy', 'cy@example.com', {}, factor),
      mailbox('eve', 'eve@bücher.example'),
      mailbox('sam', 'sam@xn--bcher-kva.example'),
      mailbox('one', 'twins@example.com'),
    ],
  }),
  organisation('south', {
    humanUsers: [mailbox('cy@example.com', 'mallory@example.com'), mailbox('two', 'twins@example.com')],
  }),
];

/** An instance with these people. */
async function filledInstance() {
  const place = await servedPlace(sqlite);
  await call(`import ${await exportFileWith(...orgs)} --to ${place.database}`, 0);
  const database = databaseOptions(place.location);
  const holders = async () => {
    const listed = users.parse(await identityJson(['user', 'list', ...database])).users;
    return listed.filter(({ factors }) => factors.includes('otp-email')).map(({ userId }) => userId);
  };
  return { ...place, database, holders };
}

/** The options of each kind of place with these people, and who holds a factor there. */
const places = {
  'a database': filledInstance,
  'an instance': async () => {
    const { url, tokenFile, holders } = await filledInstance();
    return { database: [url, '--token-file', tokenFile], holders };
  },
  'a ZITADEL': async () => {
    const { zitadel, tokenFile } = await filledZitadel(orgs);
    for (const userId of withFactors) zitadel.contents.setOtpEmail(userId, true);
    return { database: [zitadel.url, '--token-file', tokenFile], holders: async () => [...zitadel.contents.otpEmail] };
  },
};

const remove = async (...args: readonly string[]) =>
  removals.parse(await identityJson(['otp-email', 'remove', ...args]));

/** Texts, and who is found in a dry run. */
const found: readonly (readonly [texts: readonly string[], people: readonly string[]])[] = [
  [
    ['ada', 'BEN@example.com'],
    ['ada wouldBeRemoved', 'ben wouldBeRemoved'],
  ],
  [['name of eve'], ['eve notEnabled']],
  // The domain is in ASCII, or in its own letters.
  [
    ['Eve@XN--bcher-kva.example', 'sam@BÜCHER.example'],
    ['eve notEnabled', 'sam notEnabled'],
  ],
  // A person whom several texts match counts once.
  [['ada', 'Ada@example.com', 'ada@EXAMPLE.com', 'countess'], ['ada wouldBeRemoved']],
];

const nobody = 'no person has the id, user name, e-mail address or login name';
/** Texts with which nothing is removed, and the reasons. */
const refused: readonly (readonly [texts: readonly string[], ...reasons: readonly string[]])[] = [
  [['ada', 'nobody@example.com', 'grace'], `${nobody} nobody@example.com`, `${nobody} grace`],
  [
    ['twins@example.com'],
    '2 people match twins@example.com (one in organisation north by e-mail address, two in organisation south by e-mail address): specify an id, or another text that matches only one person',
  ],
  [
    ['cy@example.com'],
    '2 people match cy@example.com (',
    'cy in organisation north by e-mail address',
    'cy@example.com in organisation south by id',
    'nothing was removed',
  ],
];

describe('otp-email remove', () => {
  it.each(Object.entries(places))('finds people of %s, and removes their factors', async (_kind, open) => {
    const { database, holders } = await open();
    for (const [texts, people] of found) {
      const tried = await remove(...texts, ...database, '--dry-run');
      expect(tried).toMatchObject({ dryRun: true, removed: 0 });
      expect(tried.removals.map(({ userId, outcome }) => `${userId} ${outcome}`)).toEqual(people);
    }
    for (const [texts, ...reasons] of refused)
      for (const more of [[], ['--dry-run']])
        await call(['otp-email', 'remove', ...texts, ...database, ...more], 64, ...reasons);
    expect((await holders()).toSorted()).toEqual(withFactors);
    const outcomes = [{ outcome: 'removed' }, { outcome: 'removed' }, { outcome: 'notEnabled' }];
    const removed = await remove('ada', 'BEN@example.com', 'eve', ...database);
    expect(removed).toMatchObject({ dryRun: false, removed: 2, removals: outcomes });
    expect(await holders()).toEqual(['cy']);
    expect(await remove('ada', ...database)).toMatchObject({ removed: 0, removals: [{ outcome: 'notEnabled' }] });
  });

  it('puts each removal in a database on record', async () => {
    const { database } = await filledInstance();
    await remove('ada', 'ben', 'eve', ...database);
    const trail = events.parse(await identityJson(['audit', ...database])).events;
    const account = expect.any(String);
    expect(trail.filter((one) => one.event === 'otpEmail.removed')).toMatchObject([
      { outcome: 'ok', target: 'ada', account },
      { outcome: 'ok', target: 'ben', account },
    ]);
  });

  it('reads people from a file, one per line, also as Windows stores it', async () => {
    const { database, url, token } = await filledInstance();
    const directory = await testDirectory();
    const [list, tokenFile] = [join(directory, 'people.txt'), join(directory, 'owner.pat')];
    const lines = '# lost mailboxes\n\n ada@example.com \r\n  # and\nben\n';
    for (const encoding of ['utf16le', 'utf8'] as const) {
      await writeFile(list, Buffer.from(`\ufeff${lines}`, encoding));
      await writeFile(tokenFile, Buffer.from(`\ufeff${token}\r\n`, encoding), { mode: 0o600 });
      const address = `${url} --token-file ${tokenFile}`;
      const both = /: would be removed\n.*: would be removed\n/;
      await call(`otp-email remove --file ${list} ${address} --dry-run`, 0, both);
    }
    await writeFile(list, lines);
    const { stdout } = await call(['otp-email', 'remove', '--file', list, ...database], 0);
    expect(stdout).toBe(
      'ada@example.com (ada in organisation north by e-mail address): removed\nben (ben in organisation north by id): removed\nremoved the OTP e-mail factor of 2 people\n',
    );
  });

  it.each([
    ['compressed', gzipSync('ada\n'), /line 1 of \S+ is not text in UTF-8/],
    ['in Latin-1', Buffer.from('ada\nj\xf6rg\n', 'latin1'), /line 2 of \S+ is not text in UTF-8/],
    ['in JSON', '["ada"]', /line 1 of \S+ is JSON/],
    ['in quotes', 'ada\n"ben"\n', /line 2 of \S+ is in quotes/],
    ['of several columns', 'ada,ada@example.com\n', /line 1 of \S+ has several columns/],
    ['with a heading', 'User ID\nada\n', /line 1 of \S+ is the heading of a column/],
  ])('refuses a file %s, and says what it wants instead', async (_what, content, reason) => {
    const { database, holders } = await filledInstance();
    const before = await holders();
    const list = join(await testDirectory(), 'people.txt');
    await writeFile(list, content);
    const wanted = ': write one id, user name or e-mail address per line, and nothing else\n';
    await call(['otp-email', 'remove', '--file', list, ...database], 64, reason, wanted);
    expect(await holders()).toEqual(before);
  });

  it('takes ids only with a token that may not export', async () => {
    const { url, database, holders } = await filledInstance();
    await identityJson(['member', 'add', '--user', 'one', '--role', 'IAM_USER_MANAGER', ...database]);
    const address = [url, '--token-file', await tokenFileWith((await newToken(database, 'one')).token)];
    await call(['otp-email', 'remove', 'ada@example.com', ...address], 64, 'specify user ids');
    await call(['otp-email', 'remove', 'nobody', ...address], 0, /^nobody: not enabled, or no person has this id\n/);
    expect(await remove('ada', ...address)).toMatchObject({ removed: 1 });
    expect(await holders()).not.toContain('ada');
  });

  it('finds people of a ZITADEL by their login names', async () => {
    const north = organisation('north', { humanUsers: [person('1', { userName: 'ada' })], org: { name: 'North' } });
    const { zitadel, tokenFile } = await filledZitadel([north], { loginNamesByDomain: true });
    const args = ['ada@NORTH.localhost', zitadel.url, '--token-file', tokenFile];
    expect(await remove(...args)).toMatchObject({ removals: [{ userId: '1', matchedBy: ['login name'] }] });
  });
});
