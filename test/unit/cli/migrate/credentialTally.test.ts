import { describe, expect, it } from 'vitest';
import { CredentialTally } from '../../../../cli/migrate/credentialTally.ts';
import { describeCredentials } from '../../../../cli/migrate/credentialText.ts';
import type { RecordContent } from '../../../../cli/records/comparedRecord.ts';
import type { ComparedPair } from '../../../../cli/records/runDatabase.ts';
import { allReleases } from '../../../../shared/organisation/zitadelReleases.ts';

const HASH = 'user.hashedPassword.value';
const SEED = 'user.otpCode';

/** A person with a password, as stored on one side. */
function content(
  given: {
    state?: string;
    hash?: string;
    seed?: string;
    format?: string;
    otpEmail?: true;
    isSeedUnusable?: true;
    isEmailVerified?: boolean;
  } = {},
): RecordContent {
  const {
    state = 'ACTIVE',
    hash = 'a',
    seed,
    format = 'bcrypt',
    otpEmail = false,
    isEmailVerified = true,
    isSeedUnusable,
  } = given;
  const secrets = { [HASH]: hash, ...(seed === undefined ? {} : { [SEED]: seed }) };
  return {
    body: JSON.stringify({ user: { userName: 'ada', email: { isEmailVerified } } }),
    state: { value: `USER_STATE_${state}`, source: 'given' },
    secrets,
    hashFormat: format,
    otpEmail,
    ...(isSeedUnusable ? { isSeedUnusable } : {}),
  };
}

const withoutHash: RecordContent = {
  body: '{"user":{"userName":"ada"}}',
  state: { value: 'USER_STATE_ACTIVE', source: 'given' },
  secrets: {},
};
const clear: RecordContent = { ...withoutHash, secrets: { 'user.password': 'c' } };

type Sides = Pick<ComparedPair, 'first' | 'second'>;

function pair(sides: Sides, given: Partial<ComparedPair> = {}): ComparedPair {
  const outcome = sides.second === undefined ? 'onlyFirst' : 'different';
  return { section: 'humanUsers', orgId: 'acme', id: '1', outcome, ...sides, ...given };
}

function organisation(...states: readonly [source: string, target: string]): ComparedPair {
  const [first, second] = states.map((state): RecordContent => {
    return { body: '{}', state: { value: `ORG_STATE_${state}`, source: 'given' }, secrets: {} };
  });
  return pair({ first: first ?? clear, second }, { section: 'org' });
}

/** The targets of migrations. */
const ofInstance = (...arrives: readonly ComparedPair['outcome'][]) =>
  ({ kind: 'instance', tally: new CredentialTally({ arrives }) }) as const;
const ofZitadel = (arrives: readonly ComparedPair['outcome'][] = []) =>
  ({ kind: 'zitadel', tally: new CredentialTally({ zitadel: allReleases, arrives }) }) as const;

/** The description of people in a target. */
function described(
  { kind, tally }: ReturnType<typeof ofInstance> | ReturnType<typeof ofZitadel>,
  ...pairs: readonly ComparedPair[]
): string {
  for (const one of pairs) tally.addPair(one);
  const { sentence, reasons } = describeCredentials({ ...tally.credentials, secondFactors: 'all' }, kind);
  return [sentence, ...reasons].join(' | ');
}

const same = 'the same password hash, second factors and state on both sides';
const verified = 'active in ZITADEL, with a password hash that ZITADEL verifies by default and the same second factors';

describe('the people with the same credentials on both sides', () => {
  it('exclude those with another hash in a ZITADEL, which rehashes passwords at logins', () => {
    const reason =
      'with another hash in the target: the password was changed, or a login has hashed the password again';
    expect(described(ofZitadel(), pair({ first: content(), second: content({ hash: 'b' }) }))).toContain(
      ` | 1 ${reason}: ada`,
    );
  });

  it.each<[string | undefined, RecordContent, RecordContent | undefined]>([
    [undefined, content(), content()],
    [undefined, content({ seed: 's' }), content({ seed: 's' })],
    ['active in the target, initial in the source', content({ state: 'INITIAL' }), content()],
    ['active in the target, locked in the source', content({ state: 'LOCKED' }), content()],
    [undefined, content({ format: 'argon2' }), content({ format: 'argon2' })],
    ['missing from their organisation in the target', content(), undefined],
    ['locked in the target, active in the source', content(), content({ state: 'LOCKED' })],
    [undefined, content({ state: 'INACTIVE' }), content({ state: 'INACTIVE' })],
    ['initial in the target, locked in the source', content({ state: 'LOCKED' }), content({ state: 'INITIAL' })],
    ['without a password in the target', content(), withoutHash],
    ['with another password in the target', content(), content({ hash: 'b' })],
    [undefined, content({ format: 'unknown' }), content({ format: 'unknown' })],
    [undefined, content({ seed: 's', isSeedUnusable: true }), content({ seed: 's', isSeedUnusable: true })],
    ['with a clear password, which is not compared, because the target stores only its hash', clear, content()],
    ['without the TOTP seed in the target', content({ seed: 's' }), content()],
    ['with a TOTP seed in the target only', content(), content({ seed: 't' })],
    ['with another TOTP seed in the target', content({ seed: 's' }), content({ seed: 't' })],
    ['without the OTP e-mail factor in the target', content({ otpEmail: true }), content()],
    ['with an OTP e-mail factor in the target only', content(), content({ otpEmail: true })],
    [undefined, content({ otpEmail: true }), content({ otpEmail: true })],
  ])('are counted, and others are listed: %s', (reason, first, second) => {
    const kept = reason === undefined ? '1 of 1 person with a password has' : '0 of 1 person with a password have';
    const others = reason === undefined ? '' : ` | 1 ${reason}: ada`;
    expect(described(ofInstance(), pair({ first, second }))).toBe(`${kept} ${same}${others}`);
  });

  it('have in a ZITADEL a hash that it verifies, and no factor that it does not import', () => {
    const [argon2, factor] = [content({ format: 'argon2' }), content({ otpEmail: true })];
    const unusable = content({ seed: 's', isSeedUnusable: true });
    const pairs = [content(), argon2, factor, unusable].map((first) => pair({ first, second: undefined }));
    expect(described(ofZitadel(['onlyFirst']), ...pairs).split(' | ')).toEqual([
      `1 of 4 people with a password is ${verified}`,
      '1 with a hash that ZITADEL does not verify by default (argon2): ada',
      '1 with an OTP e-mail factor: ZITADEL does not import OTP e-mail factors: ada',
      '1 with a TOTP seed that no authenticator app can use: ada',
    ]);
  });

  it.each([
    ['INITIAL', true, undefined],
    ['INITIAL', false, 'initial, as in the source'],
    ['ACTIVE', false, 'initial in the target, active in the source'],
    ['INACTIVE', true, 'inactive, as in the source'],
  ])('include in the plan for a ZITADEL those whom it activates: %s, verified %s', (state, isEmailVerified, reason) => {
    const arriving = pair({ first: content({ state, isEmailVerified }), second: undefined });
    const planned = described(ofZitadel(['onlyFirst']), arriving);
    expect(planned.split(' | ')[1]).toBe(reason && `1 ${reason}: ada`);
    const [first, second] = [content({ state: 'INITIAL' }), content({ state: 'INITIAL' })];
    expect(described(ofZitadel(), pair({ first, second }))).toContain('1 initial, as in the source');
  });

  it.each([
    ['LOCKED', 'locked'],
    ['INACTIVE', 'inactive'],
    ['SUSPEND', 'suspend'],
  ])('exclude in the plan for a ZITADEL those whom the import closes: %s', (state, word) => {
    const arriving = pair({ first: content({ state }), second: undefined });
    expect(described(ofZitadel(['onlyFirst']), arriving)).toContain(` | 1 ${word}, as in the source: ada`);
  });

  it('exclude those of an organisation that the import into a ZITADEL closes', () => {
    const arriving = pair({ first: content(), second: undefined });
    const state = { value: 'ORG_STATE_INACTIVE', source: 'given' } as const;
    const closed = { body: '{}', state, secrets: {} };
    const org = pair({ first: closed, second: undefined }, { section: 'org' });
    expect(described(ofZitadel(['onlyFirst']), arriving, org)).toContain('of an organisation that is inactive');
  });

  it.each([
    ['LOCKED', 'active in the target, locked in the source'],
    ['INACTIVE', 'active in the target, inactive in the source'],
  ])('exclude those who are open in the target only: %s', (state, reason) => {
    const first = content({ state });
    const expected = `0 of 1 person with a password are ${verified} | 1 ${reason}: ada`;
    expect(described(ofZitadel(), pair({ first, second: content() }))).toBe(expected);
  });

  it.each([
    [
      'totp',
      'password hash, TOTP seed and state on both sides; other second factors',
      ' and the same TOTP seed; other second factors',
    ],
    ['none', 'password hash and state on both sides; second factors', '; second factors'],
  ] as const)(
    'are counted without factors that the export does not contain: %s',
    (secondFactors, compared, inZitadel) => {
      const credentials = { people: 3, withPassword: 2, kept: 1, secondFactors, others: [] };
      const rest = ' do not move, and are not compared; 1 of 3 people has no password in the export';
      const { sentence } = describeCredentials(credentials, 'database');
      expect(sentence).toBe(`1 of 2 people with a password has the same ${compared}${rest}`);
      expect(describeCredentials(credentials, 'zitadel').sentence).toBe(
        `1 of 2 people with a password is active in ZITADEL, with a password hash that ZITADEL verifies by default${inZitadel}${rest}`,
      );
      const withoutPassword = { ...credentials, people: 1, withPassword: 0 };
      expect(describeCredentials(withoutPassword, 'database').sentence).toBe(
        '1 of 1 person has no password in the export',
      );
    },
  );

  it('exclude those of an organisation whose state differs, and include those of one that is inactive on both sides', () => {
    const both = { first: content(), second: content() };
    const locked = { first: content(), second: content({ state: 'LOCKED' }) };
    const people = [pair(both), pair(both), pair(locked), pair(both, { orgId: 'emca' })];
    const without = pair({ first: withoutHash, second: undefined });
    expect(described(ofInstance(), without, organisation('ACTIVE', 'INACTIVE'))).not.toContain('organisation');
    expect(described(ofInstance(), ...people, organisation('ACTIVE', 'INACTIVE')).split(' | ')).toEqual([
      `1 of 4 people with a password has ${same}`,
      '2 of an organisation that is inactive in the target, active in the source: ada, ada',
      '1 locked in the target, active in the source: ada',
    ]);
    expect(described(ofInstance(), ...people, organisation('INACTIVE', 'INACTIVE'))).toMatch(/^3 of 4 /);
    expect(described(ofZitadel(), ...people, organisation('INACTIVE', 'INACTIVE'))).toContain(
      '2 of an organisation that is inactive, as in the source: ada, ada',
    );
  });

  it('exclude those without a password in the source who have a credential in the target only', () => {
    const factor = { ...withoutHash, otpEmail: true };
    const seed = { ...withoutHash, secrets: { [SEED]: 's' } };
    const pairs = [content(), withoutHash, factor, seed].map((second) => pair({ first: withoutHash, second }));
    expect(described(ofInstance(), ...pairs).split(' | ')).toEqual([
      '4 of 4 people have no password in the export',
      '1 with a password in the target only: ada',
      '1 with an OTP e-mail factor in the target only: ada',
      '1 with a TOTP seed in the target only: ada',
    ]);
  });

  it('keep, in the plan of an overwrite, what the source lacks without stating that', () => {
    const { otpEmail: _, ...unknown } = content();
    const stated = { ...content(), lacks: [SEED] };
    const second = content({ seed: 's', otpEmail: true });
    for (const [first, reason] of [
      [unknown, 'with a TOTP seed in the target only'],
      [{ ...unknown, lacks: [SEED] }, 'with an OTP e-mail factor in the target only'],
      [stated, undefined],
    ] as const)
      expect(described(ofInstance('different'), pair({ first, second })).split(' | ')[1]).toBe(
        reason && `1 ${reason}: ada`,
      );
  });

  it('have a password; those without one in the export are counted apart, and the first ones are listed', () => {
    const target = ofInstance();
    const missing = Array.from({ length: 5_000 }, () => pair({ first: content(), second: undefined }));
    expect(described(target, pair({ first: withoutHash, second: withoutHash }), ...missing)).toBe(
      `0 of 5,000 people with a password have ${same}; 1 of 5,001 people has no password in the export | 5,000 missing from their organisation in the target: ada, ada, ada, and 4,997 more`,
    );
  });

  it('include, in a plan, incoming people as they are in the source and existing people as they are in the target', () => {
    const locked = pair({ first: content(), second: content({ state: 'LOCKED' }) });
    const missing = pair({ first: content(), second: undefined });
    expect(described(ofInstance('onlyFirst'), locked, missing)).toMatch(/^1 of 2 .* \| 1 locked in the target/);
    expect(described(ofInstance('onlyFirst', 'different'), locked, missing)).toMatch(/^2 of 2 [^|]*$/);
  });
});
