import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparable } from '../../support/fixtures/comparable.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';

const USERS = 400;

/** Ids that a path, a separator, a comparison or a database could misinterpret. */
const awkward = [
  ...[
    '/',
    '//',
    'a/b',
    '.',
    '..',
    '__x__',
    '%',
    '%2f',
    'a%7cb',
    'a|b',
    '|',
    '||',
    ' ',
    ' a',
    'a ',
    '~',
    '00~a',
    '"',
    "'",
  ],
  ...['\\', '\\u0041', '\n', '\r\n', '\t', '\u007f', '\u200b', '\ufeff', '\ufffd', '\uffff', '\u{10ffff}'],
  ...['a', 'A', 'ä', 'a\u0308', 'Ä', 'ß', 'ss', 'SS', 'İ', 'i\u0307', 'ﬁ', 'fi', '1', '01', '1.0', '1e0', '-0', 'null'],
  ...[
    'true',
    'undefined',
    '[object Object]',
    'constructor',
    '__proto__',
    'toString',
    "'; DROP TABLE documents; --",
    '*',
  ],
  ...[
    'auth0|6601f3a1e4b0',
    'google-oauth2|1',
    'waad|a@b.c',
    '漢字',
    '🚀',
    '👩‍👩‍👧‍👦',
    'مرحبا',
    '\u202eabc',
    'x'.repeat(200),
  ],
  ...[
    '漢'.repeat(200),
    '🚀'.repeat(200),
    `${'/'.repeat(199)}a`,
    `${'/'.repeat(199)}b`,
    '{"userId":"x"}',
    '$orgId',
    '=user',
  ],
];

/** As many different ids as there are users: the awkward ids, then generated ones, the same in every run. */
function idsOf(count: number): string[] {
  const generated = fc.sample(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }), {
    numRuns: 2 * count,
    seed: 7,
  });
  // No ZITADEL stores NUL, so every import rejects it.
  const storable = generated.filter((id) => !id.includes('\0'));
  return [...new Set([...awkward, ...storable])].slice(0, count);
}

describe(`an import of ${USERS} people with awkward ids`, () => {
  const people = idsOf(USERS).map((userId, index) => ({
    ...person(userId, {
      // The spaces around a user name would be dropped.
      userName: `u ${userId.slice(0, 150)} ${index}`,
      profile: { firstName: userId.slice(0, 100), lastName: `L${index}`, preferredLanguage: 'en' },
      hashedPassword: { value: `$2a$10$${index}` },
      ...(index % 3 === 0 ? { otpCode: `SEED${index}` } : {}),
    }),
    state: index % 5 === 0 ? 'USER_STATE_LOCKED' : 'USER_STATE_ACTIVE',
    ...(index % 7 === 0 ? { otpEmail: true } : {}),
  }));
  const ids = people.map(({ userId }) => userId);
  const org = {
    ...organisation('awkward'),
    humanUsers: people,
    userMetadata: ids.map((id) => ({ id, key: id, value: 'eA==' })).filter(({ key }) => [...key].length <= 200),
    orgMembers: ids.map((userId) => ({ userId, roles: ['ORG_OWNER'] })),
    orgState: 'ORG_STATE_ACTIVE',
  };

  it('neither loses nor mixes up any of them, and finds them unchanged when it is sent again', async () => {
    expect(people).toHaveLength(USERS);
    const instance = await testInstance(await openTestStore());
    const { errors, success, summary } = await instance.import({ dataOrgs: { orgs: [org] } });
    expect(errors).toBeUndefined();
    expect(success.orgs?.[0]?.humanUserIds).toEqual(ids);
    expect(summary.created).toMatchObject({ org: 1, humanUsers: USERS, orgMembers: USERS });
    const exported = await instance.export();
    expect(comparable(exported.orgs)).toEqual(comparable([org]));
    const again = await instance.import(`{"data_orgsv1":${exported.bytes}}`);
    expect({ errors: again.errors, created: again.summary.created, proved: again.summary.proved }).toEqual({
      errors: undefined,
      created: {},
      proved: true,
    });
  });
});

describe('an import of large records', () => {
  it('writes records that no single commit could hold together, whichever field is large', async () => {
    const instance = await testInstance(await openTestStore());
    const large = (index: number) => `${index}${'漢'.repeat(21_000)}`;
    const org = {
      ...organisation('large'),
      humanUsers: Array.from({ length: 100 }, (_, index) => ({
        ...person(`P${index}`, { otpCode: large(index) }),
        state: 'USER_STATE_ACTIVE',
      })),
      userMetadata: Array.from({ length: 20 }, (_, index) => ({
        id: `P${index}`,
        key: 'large',
        value: Buffer.alloc(300_000, index).toString('base64'),
      })),
      orgState: 'ORG_STATE_ACTIVE',
    };
    expect((await instance.import({ dataOrgs: { orgs: [org] } })).errors).toBeUndefined();
    expect(comparable((await instance.export()).orgs)).toEqual(comparable([org]));
  });

  it('lists a record that is larger than the store can hold, and imports the others', async () => {
    const instance = await testInstance(await openTestStore());
    const actions = ['x'.repeat(1_000_001), 'y'].map((script, at) => ({
      actionId: `A${at}`,
      action: { name: `a${at}`, script },
    }));
    const { errors, summary } = await instance.import({ dataOrgs: { orgs: [organisation('O', { actions })] } });
    const message = 'ID=IMPORT-tooLong Message=the record exceeds 1000000 bytes; orgs[0].actions[0]';
    expect(errors).toMatchObject([{ type: 'action', message }]);
    expect(summary).toMatchObject({ created: { org: 1, actions: 1 }, failed: { actions: 1 } });
  });
});
