import { describe, expect, it } from 'vitest';
import { describeLogins, LoginTally } from '../../../../cli/migrate/logins.ts';
import type { RecordContent } from '../../../../shared/exportFile/comparedRecord.ts';
import type { ComparedPair } from '../../../../shared/exportFile/comparison.ts';

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
    isEmailVerified?: boolean;
  } = {},
): RecordContent {
  const { state = 'ACTIVE', hash = 'a', seed, format = 'bcrypt', otpEmail = false, isEmailVerified = true } = given;
  const secrets = { [HASH]: hash, ...(seed === undefined ? {} : { [SEED]: seed }) };
  return {
    body: JSON.stringify({ user: { userName: 'ada', email: { isEmailVerified } }, state: `USER_STATE_${state}` }),
    secrets,
    hashFormat: format,
    otpEmail,
  };
}

const withoutHash: RecordContent = { body: '{"user":{"userName":"ada"},"state":"USER_STATE_ACTIVE"}', secrets: {} };
const clear: RecordContent = { ...withoutHash, secrets: { 'user.password': 'c' } };

type Sides = Pick<ComparedPair, 'first' | 'second'>;

function pair(sides: Sides, given: Partial<ComparedPair> = {}): ComparedPair {
  const outcome = sides.second === undefined ? 'onlyFirst' : 'different';
  return { section: 'humanUsers', orgId: 'acme', id: '1', outcome, ...sides, ...given };
}

function organisation(...states: readonly [source: string, target: string]): ComparedPair {
  const [first, second] = states.map((state) => ({ body: `{"orgState":"ORG_STATE_${state}"}`, secrets: {} }));
  return pair({ first: first ?? clear, second }, { section: 'org' });
}

/** The description of one person's login. */
function described(tally: LoginTally, ...pairs: readonly ComparedPair[]): string {
  for (const one of pairs) tally.addPair(one);
  const { sentence, reasons } = describeLogins({ ...tally.logins, secondFactors: 'all' });
  return [sentence, ...reasons].join(' | ');
}

describe('the people who can log in as before', () => {
  it('exclude those with another hash in a ZITADEL, which rehashes passwords at logins', () => {
    const reason = 'with another hash in the target, of the same password since a login there or of another one';
    expect(described(new LoginTally(true), pair({ first: content(), second: content({ hash: 'b' }) }))).toContain(
      ` | 1 ${reason}: ada`,
    );
  });

  it.each<[string | undefined, RecordContent, RecordContent | undefined]>([
    [undefined, content(), content()],
    [undefined, content({ state: 'INITIAL', seed: 's' }), content({ seed: 's' })],
    ['active in the target, locked in the source', content({ state: 'LOCKED' }), content()],
    [undefined, content({ format: 'argon2' }), content({ format: 'argon2' })],
    ['not in their organisation of the target', content(), undefined],
    ['locked in the target, active in the source', content(), content({ state: 'LOCKED' })],
    ['inactive, as in the source', content({ state: 'INACTIVE' }), content({ state: 'INACTIVE' })],
    ['initial in the target, locked in the source', content({ state: 'LOCKED' }), content({ state: 'INITIAL' })],
    ['without a password in the target', content(), withoutHash],
    ['with another password in the target', content(), content({ hash: 'b' })],
    [
      'with a hash that the target does not verify (unknown)',
      content({ format: 'unknown' }),
      content({ format: 'unknown' }),
    ],
    ['with a clear password, which the target hashes: not compared', clear, content()],
    ['without the TOTP seed in the target', content({ seed: 's' }), content()],
    ['with a TOTP seed in the target only', content(), content({ seed: 't' })],
    ['with another TOTP seed in the target', content({ seed: 's' }), content({ seed: 't' })],
    ['without the OTP e-mail factor in the target', content({ otpEmail: true }), content()],
    [undefined, content({ otpEmail: true }), content({ otpEmail: true })],
  ])('are counted, and others are listed: %s', (reason, first, second) => {
    const [ready, verb] = reason === undefined ? ['1', 'logs'] : ['0', 'log'];
    const others = reason === undefined ? '' : ` | 1 ${reason}: ada`;
    expect(described(new LoginTally(false), pair({ first, second }))).toBe(
      `${ready} of 1 person with a password ${verb} in as before${others}`,
    );
  });

  it('have in a ZITADEL a hash that it verifies, and no factor that it does not import', () => {
    const [argon2, factor] = [content({ format: 'argon2' }), content({ otpEmail: true })];
    const pairs = [content(), argon2, factor].map((first) => pair({ first, second: undefined }));
    expect(described(new LoginTally(true, ['onlyFirst']), ...pairs)).toBe(
      '1 of 3 people with a password logs in as before | 1 with a hash that the target does not verify (argon2): ada | 1 with an OTP e-mail factor, which ZITADEL does not import: ada',
    );
  });

  it.each([
    ['INITIAL', true, undefined],
    ['INITIAL', false, 'initial, as in the source'],
    ['ACTIVE', false, 'initial in the target, active in the source'],
    ['INACTIVE', true, 'inactive, as in the source'],
  ])('include in the plan for a ZITADEL those whom it activates: %s, verified %s', (state, isEmailVerified, reason) => {
    const arriving = pair({ first: content({ state, isEmailVerified }), second: undefined });
    const planned = described(new LoginTally(true, ['onlyFirst']), arriving);
    expect(planned.split(' | ')[1]).toBe(reason && `1 ${reason}: ada`);
    const [first, second] = [content({ state: 'INITIAL' }), content({ state: 'INITIAL' })];
    expect(described(new LoginTally(true), pair({ first, second }))).toContain('1 initial, as in the source');
  });

  it.each([
    ['LOCKED', 'active in the target, locked in the source'],
    ['INACTIVE', 'active in the target, inactive in the source'],
  ])('exclude those whom a ZITADEL admits because it imports no states: %s', (state, reason) => {
    const first = content({ state });
    const expected = `0 of 1 person with a password log in as before | 1 ${reason}: ada`;
    expect(described(new LoginTally(true, ['onlyFirst'], false), pair({ first, second: undefined }))).toBe(expected);
    expect(described(new LoginTally(true), pair({ first, second: content() }))).toBe(expected);
    const arriving = pair({ first: content(), second: undefined });
    const closed = { body: '{"orgState":"ORG_STATE_INACTIVE"}', secrets: {} };
    const org = pair({ first: closed, second: undefined }, { section: 'org' });
    expect(described(new LoginTally(true, ['onlyFirst'], false), arriving, org)).toContain(
      'of an organisation that is active in the target, inactive in the source',
    );
  });

  it.each([
    ['totp', ', by password and TOTP; other second factors do not move, and are not counted'],
    ['none', ', by password; second factors do not move, and are not counted'],
  ] as const)('are counted without factors that the export does not contain: %s', (secondFactors, scope) => {
    const logins = { people: 3, withPassword: 2, ready: 1, secondFactors, others: [] };
    const without = '1 of 3 people has no password in the export';
    expect(describeLogins(logins).sentence).toBe(`1 of 2 people with a password logs in as before${scope}; ${without}`);
    const withoutPassword = { ...logins, people: 1, withPassword: 0 };
    expect(describeLogins(withoutPassword).sentence).toBe('1 of 1 person has no password in the export');
  });

  it.each([
    ['inactive in the target, active in the source', 'ACTIVE'],
    ['inactive, as in the source', 'INACTIVE'],
  ])('exclude those of an organisation that is %s', (reason, source) => {
    const [both, locked] = [
      { first: content(), second: content() },
      { first: content(), second: content({ state: 'LOCKED' }) },
    ];
    const people = [pair(both), pair(both), pair(locked), pair(both, { orgId: 'emca' })];
    expect(
      described(
        new LoginTally(false),
        pair({ first: withoutHash, second: undefined }),
        organisation(source, 'INACTIVE'),
      ),
    ).not.toContain('organisation');
    expect(described(new LoginTally(false), ...people, organisation(source, 'INACTIVE'))).toBe(
      `1 of 4 people with a password logs in as before | 2 of an organisation that is ${reason}: ada, ada | 1 locked in the target, active in the source: ada`,
    );
  });

  it('have a password; those without one in the export are counted apart, and the first ones are listed', () => {
    const tally = new LoginTally(false);
    const missing = Array.from({ length: 5_000 }, () => pair({ first: content(), second: undefined }));
    expect(described(tally, pair({ first: withoutHash, second: content() }), ...missing)).toBe(
      '0 of 5,000 people with a password log in as before; 1 of 5,001 people has no password in the export | 5,000 not in their organisation of the target: ada, ada, ada, and 4,997 more',
    );
    tally.reset();
    expect(tally.logins).toEqual({ people: 0, withPassword: 0, ready: 0, others: [] });
  });

  it('include, in a plan, incoming people as they are in the source and existing people as they are in the target', () => {
    const locked = pair({ first: content(), second: content({ state: 'LOCKED' }) });
    const missing = pair({ first: content(), second: undefined });
    expect(described(new LoginTally(false, ['onlyFirst']), locked, missing)).toMatch(
      /^1 of 2 .* \| 1 locked in the target/,
    );
    expect(described(new LoginTally(false, ['onlyFirst', 'different']), locked, missing)).toMatch(/^2 of 2 [^|]*$/);
  });
});
