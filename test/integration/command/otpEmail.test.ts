import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call, calling, identity, identityJson } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { peopleOf, sampleOrganisation } from '../../support/fixtures/sampleOrganisation.ts';
import { importInto } from '../../support/http/wire.ts';
import { newToken } from '../../support/instances/tokens.ts';
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
const events = z.looseObject({
  events: z.array(
    z.looseObject({
      event: z.string(),
      outcome: z.string(),
      target: z.string().optional(),
      account: z.string().optional(),
    }),
  ),
});

/** A served instance with the people of a sample organisation. */
async function newInstance() {
  const place = await servedPlace(sqlite);
  const sample = sampleOrganisation();
  const { ada, ben, owner } = peopleOf(sample);
  const instance = { url: place.url, token: place.token, database: databaseOptions(place.location) };
  await importInto(instance, { data_orgs: { orgs: [sample] } });
  const database = databaseOptions(place.location);
  const withFactor = async () => {
    const listed = users.parse(await identityJson(['user', 'list', ...database]));
    return listed.users.filter(({ factors }) => factors.includes('otp-email')).map(({ userId }) => userId);
  };
  return { ...place, orgId: sample.orgId, database, ada, ben, owner, withFactor, remove: remover(database) };
}

function remover(database: readonly string[]) {
  return async (...args: string[]) => removals.parse(await identityJson(['otp-email', 'remove', ...args, ...database]));
}

describe('otp-email remove in a database', () => {
  it('removes the factor of people by id, user name and e-mail address, and puts each removal on record', async () => {
    const { ada, ben, owner, remove, withFactor, database } = await newInstance();
    expect(await withFactor()).toEqual(expect.arrayContaining([ada, ben]));
    const removed = await remove(ada, `BEN-${ben}@example.com`, `owner-${owner}`);
    expect(removed.removed).toBe(2);
    expect(removed.removals.map(({ userId, outcome }) => [userId, outcome])).toEqual([
      [ada, 'removed'],
      [ben, 'removed'],
      [owner, 'notEnabled'],
    ]);
    expect(await withFactor()).toEqual([]);
    const trail = events.parse(await identityJson(['audit', ...database]));
    expect(trail.events.filter(({ event }) => event === 'otpEmail.removed')).toMatchObject([
      { outcome: 'ok', target: ada, account: expect.any(String) },
      { outcome: 'ok', target: ben, account: expect.any(String) },
    ]);
  });

  it('reads people from a file, one per line', async () => {
    const { ada, ben, orgId, database, withFactor } = await newInstance();
    const file = join(await testDirectory(), 'people.txt');
    await writeFile(file, `# lost mailboxes\n\n ada-${ada}@example.com \r\n  # and\n${ben}\n`);
    const { code, stdout } = await identity(['otp-email', 'remove', '--file', file, ...database]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `ada-${ada}@example.com (${ada} in organisation ${orgId} by e-mail address): removed\n${ben} (${ben} in organisation ${orgId} by id): removed\nremoved the OTP e-mail factor of 2 people\n`,
    });
    expect(await withFactor()).toEqual([]);
  });

  it.each(['utf16le', 'utf8'] as const)('reads people and a token as Windows stores them: in %s', async (encoding) => {
    const { ada, ben, url, token } = await newInstance();
    const directory = await testDirectory();
    const list = join(directory, 'people.txt');
    const tokenFile = join(directory, 'owner.pat');
    await writeFile(list, Buffer.from(`\ufeffada-${ada}@example.com\r\n${ben}\r\n`, encoding));
    await writeFile(tokenFile, Buffer.from(`\ufeff${token}\r\n`, encoding), { mode: 0o600 });
    const call = ['otp-email', 'remove', '--file', list, url, '--token-file', tokenFile, '--dry-run'];
    await calling()(call, 0, /: would be removed\n.*: would be removed\n/);
  });

  it('finds people by the domain of their e-mail address in ASCII and in its own letters', async () => {
    const { url, token, database, remove } = await newInstance();
    const mailbox = (id: string, address: string) => person(id, { email: { email: address } });
    const people = [mailbox('1', 'eve@bücher.example'), mailbox('2', 'sam@xn--bcher-kva.example')];
    await importInto({ url, token, database }, { data_orgs: { orgs: [organisation('shop', { humanUsers: people })] } });
    const { removals: found } = await remove('Eve@XN--bcher-kva.example', 'sam@BÜCHER.example', '--dry-run');
    expect(found.map(({ userId }) => userId)).toEqual(['1', '2']);
  });

  it('changes nothing with --dry-run', async () => {
    const { ada, ben, remove, withFactor } = await newInstance();
    expect(await remove(ada, ben, '--dry-run')).toMatchObject({
      dryRun: true,
      removed: 0,
      removals: [{ outcome: 'wouldBeRemoved' }, { outcome: 'wouldBeRemoved' }],
    });
    expect(await withFactor()).toHaveLength(2);
  });

  it('removes nothing if a text matches no person or several, and lists each of them', async () => {
    const { ada, database, withFactor } = await newInstance();
    const { code, stderr } = await identity(['otp-email', 'remove', ada, 'nobody@example.com', 'grace', ...database]);
    expect(code).toBe(64);
    expect(stderr).toContain('no person has the id, user name, e-mail address or login name nobody@example.com');
    expect(stderr).toContain('no person has the id, user name, e-mail address or login name grace');
    expect(await withFactor()).toContain(ada);
  });

  it('removes nothing if several people have an e-mail address', async () => {
    const { url, token, database, location } = await newInstance();
    const twins = ['1', '2'].map((id) =>
      organisation(`twin ${id}`, {
        humanUsers: [person(`twin ${id} of two`, { email: { email: 'twins@example.com' } })],
      }),
    );
    await importInto({ url, token, database: databaseOptions(location) }, { data_orgs: { orgs: twins } });
    await call(
      `otp-email remove twins@example.com ${database.join(' ')}`,
      64,
      '2 people match twins@example.com: twin 1 of two in organisation twin 1 by e-mail address, twin 2 of two in organisation twin 2 by e-mail address: specify a text that matches only one of them',
    );
  });

  it.each([
    ['', []],
    [' in a dry run', ['--dry-run']],
  ])('removes nothing if the e-mail address of a person is the id of another one%s', async (_when, options) => {
    const { ada, url, tokenFile, database, location, orgId, token, withFactor } = await newInstance();
    const email = `ada-${ada}@example.com`;
    const other = organisation('other', { humanUsers: [person(email, { email: { email: 'mallory@example.com' } })] });
    await importInto({ url, token, database: databaseOptions(location) }, { data_orgs: { orgs: [other] } });
    for (const place of [database, [url, '--token-file', tokenFile]]) {
      const { code, stderr } = await identity(['otp-email', 'remove', email, ...place, ...options]);
      expect(code).toBe(64);
      expect(stderr).toContain(`2 people match ${email}: `);
      expect(stderr).toContain(`${ada} in organisation ${orgId} by e-mail address`);
      expect(stderr).toContain(`${email} in organisation other by id`);
      expect(stderr).toContain('nothing was removed');
    }
    expect(await withFactor()).toContain(ada);
  });
});

describe('otp-email remove at an instance', () => {
  it('finds people in an export, and removes their factors', async () => {
    const { ada, url, tokenFile, withFactor } = await newInstance();
    const address = [url, '--token-file', tokenFile];
    const args = [`ada-${ada}@example.com`, ...address];
    expect(await remover([])(...args, '--dry-run')).toMatchObject({
      removals: [{ userId: ada, outcome: 'wouldBeRemoved' }],
    });
    expect(await withFactor()).toContain(ada);
    expect(await remover([])(...args)).toMatchObject({ removed: 1, removals: [{ userId: ada, outcome: 'removed' }] });
    expect(await withFactor()).not.toContain(ada);
    expect(await remover([])(...args)).toMatchObject({ removed: 0, removals: [{ outcome: 'notEnabled' }] });
  });

  it('takes ids only with a token that may not export', async () => {
    const { ada, url, database, owner, withFactor } = await newInstance();
    await identityJson(['member', 'add', '--user', owner, '--role', 'IAM_USER_MANAGER', ...database]);
    const tokenFile = await tokenFileWith((await newToken(database, owner)).token);
    const address = [url, '--token-file', tokenFile];
    await call(`otp-email remove ada-${ada}@example.com ${address.join(' ')}`, 64, 'specify user ids');
    const { stdout } = await identity(['otp-email', 'remove', 'ada', ...address]);
    expect(stdout).toMatch(/^ada: not enabled, or no person has this id\n/);
    expect(await remover([])(ada, ...address)).toMatchObject({ removed: 1 });
    expect(await withFactor()).not.toContain(ada);
  });
});

describe('otp-email remove at a ZITADEL', () => {
  it('finds people by its search, and removes their factors', async () => {
    const people = ['ada', 'ben'].map((name) =>
      person(name, { email: { email: `${name}@example.com`, isEmailVerified: true } }),
    );
    const { zitadel, tokenFile } = await filledZitadel([organisation('north', { humanUsers: people })]);
    zitadel.contents.otpEmail.add('ada');
    const address = [zitadel.url, '--token-file', tokenFile];
    expect(await remover([])('ADA@example.com', 'name of ben', ...address)).toMatchObject({
      removed: 1,
      removals: [
        { userId: 'ada', orgId: 'north', outcome: 'removed' },
        { userId: 'ben', outcome: 'notEnabled' },
      ],
    });
    expect(zitadel.contents.otpEmail.size).toBe(0);
  });

  it('counts a person as one whom several texts match', async () => {
    const ada = person('ada', { userName: 'countess', email: { email: 'ada@example.com' } });
    const { zitadel, tokenFile } = await filledZitadel([organisation('north', { humanUsers: [ada] })]);
    zitadel.contents.otpEmail.add('ada');
    const texts = ['ada', 'Ada@example.com', 'ada@EXAMPLE.com', 'countess'];
    expect(await remover([])(...texts, zitadel.url, '--token-file', tokenFile)).toMatchObject({
      removed: 1,
      removals: [{ user: 'ada', userId: 'ada', matchedBy: ['id'], outcome: 'removed' }],
    });
  });

  it('removes nothing if the e-mail address of a person is the id of another one', async () => {
    const [ada, mallory] = [person('ada', { email: { email: 'ada@example.com' } }), person('ada@example.com')];
    const { zitadel, tokenFile } = await filledZitadel([
      organisation('north', { humanUsers: [ada] }),
      organisation('south', { humanUsers: [mallory] }),
    ]);
    zitadel.contents.otpEmail.add('ada').add('ada@example.com');
    await call(
      [...['otp-email', 'remove', 'ada@example.com', zitadel.url, '--token-file', tokenFile]],
      64,
      '2 people match ada@example.com: ada in organisation north by e-mail address, ada@example.com in organisation south by id: specify',
    );
    expect(zitadel.contents.otpEmail.size).toBe(2);
  });

  it('finds people by the domain of their e-mail address in ASCII and in its own letters', async () => {
    const mailbox = (id: string, address: string) => person(id, { email: { email: address } });
    const people = [mailbox('1', 'eve@bücher.example'), mailbox('2', 'sam@xn--bcher-kva.example')];
    const { zitadel, tokenFile } = await filledZitadel([organisation('north', { humanUsers: people })]);
    const texts = ['Eve@XN--bcher-kva.example', 'sam@BÜCHER.example'];
    const { removals: found } = await remover([])(...texts, '--dry-run', zitadel.url, '--token-file', tokenFile);
    expect(found.map(({ userId }) => userId)).toEqual(['1', '2']);
  });

  it('finds people by their login names', async () => {
    const ada = person('1', { userName: 'ada' });
    const north = organisation('north', { humanUsers: [ada], org: { name: 'North' } });
    const { zitadel, tokenFile } = await filledZitadel([north], { loginNamesByDomain: true });
    const args = ['ada@NORTH.localhost', zitadel.url, '--token-file', tokenFile];
    expect(await remover([])(...args)).toMatchObject({ removals: [{ userId: '1', matchedBy: ['login name'] }] });
  });
});
