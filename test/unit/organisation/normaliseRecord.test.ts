import { describe, expect, it } from 'vitest';
import { warn } from '../../../shared/errors/warnings.ts';
import { normaliseRecord } from '../../../shared/organisation/normaliseRecord.ts';
import { readRecord } from '../../../shared/organisation/record.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';

const named = {
  userName: 'a',
  profile: { firstName: 'A', lastName: 'B' },
  email: { email: 'a@b.example', isEmailVerified: true },
};

function person(phone: object | null) {
  const user = { ...named, otpCode: 'SEED', hashedPassword: { value: 'hash' }, phone };
  return readRecord(sectionNamed('humanUsers'), { userId: 'u', user }, 'org');
}

/** The zeros of the digits of mathematics: bold, double-struck, sans-serif, its bold, and monospace. */
const MATHEMATICAL_ZEROS = [0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6];
const inDigits = (text: string, zero: number) =>
  String.fromCodePoint(...[...text].map((digit) => zero + Number(digit)));

describe('the phone number of a person', () => {
  it.each([
    ['+1 (415) 555-2671', '+14155552671'],
    ['+41 (0)79 123 45 67', '+41791234567'],
    ['+44 20 7946 0018 ext. 12', '+442079460018'],
    ['+44 0020 7946 0958', '+442079460958'],
    ['+４１７９１２３４５６７', '+41791234567'],
    ['+٤١٧٩١٢٣٤٥٦٧', '+41791234567'],
    ['+𝟒𝟏𝟕𝟗𝟏𝟐𝟑𝟒𝟓𝟔𝟕', '+41791234567'],
    ['+𝟺𝟷𝟽𝟿𝟷𝟸𝟹𝟺𝟻𝟼𝟽', '+41791234567'],
    ['+39 06 1234 5678', '+390612345678'],
    ['+4112', '+4112'],
    ['++41 79 123 45 67', '+41791234567'],
    ['+0041 79 123 45 67', '+41791234567'],
    ['+41 79/123.45 67\t', '+41791234567'],
    ['+41 ٧٩ ١٢٣ ٤٥ ٦٧', '+41791234567'],
  ])('%s is kept as %s', (given, kept) => {
    const { record, issue } = normaliseRecord(person({ phone: given, isPhoneVerified: true }));
    expect(issue).toBeUndefined();
    const { given: _, dropped: _dropped, ...normalised } = record;
    expect(normalised).toEqual(person({ phone: kept, isPhoneVerified: true }));
  });

  it.each(MATHEMATICAL_ZEROS)('in digits of mathematics from %i is converted', (zero) => {
    const { record } = normaliseRecord(person({ phone: `+41${inDigits('791234567', zero)}` }));
    expect(record.json).toMatchObject({ user: { phone: { phone: '+41791234567' } } });
  });

  it.each([
    ...['+41 79 123 45 67 (Axel)', '+41791234567 A', '+41 79 123 45 67 ☎', '+41 79 123 45 67 / 78'],
    ...['+41 79 123 45 67, +41 44 123 45 67', '+41 79 I23 45 67', '+41 12', '+1 5'],
    ...['+41 44 123 45 67 / x 44 765 43 21', '+', '+abc', '+999123456', '+411', `+41${'1'.repeat(18)}`, '++', '+0'],
    ...['+1800FLOWERS', 'call +41791234567'],
  ])('%s is not one number in digits, and is kept with a warning', (given) => {
    const { record, issue } = normaliseRecord(person({ phone: given, isPhoneVerified: true }));
    expect({ issue, record }).toEqual({ issue: undefined, record: person({ phone: given, isPhoneVerified: true }) });
    expect(record.section.valueWarning?.(record)).toEqual(warn('phone_unclear', { phone: JSON.stringify(given) }));
  });

  it('gets no warning in E.164', () => {
    const { record } = normaliseRecord(person({ phone: '+41 79 123 45 67' }));
    expect(record.section.valueWarning?.(record)?.reason).toBe('phone_corrected');
  });

  it.each([
    ['++41791234567', '+41791234567'],
    ['+0041791234567', '+41791234567'],
    ['+41 (0)79 123 45 67', '+41791234567'],
    ['+7 8 495 123 45 67', '+74951234567'],
    ['0041 (0)79 123 45 67', '+41791234567'],
    ['＋41 79 123 45 67', '+41791234567'],
    ['（＋４１）７９　１２３４５６７', '+41791234567'],
    ['(+41) 79 123 45 67', '+41791234567'],
    [' +41 79 123 45 67', '+41791234567'],
    ['\u202d+41 79 123 45 67\u202c', '+41791234567'],
    ['tel:+41-79-123-45-67', '+41791234567'],
    ['TEL: +41791234567;ext=12', '+41791234567'],
    ['callto:0041791234567', '+41791234567'],
  ])('%j is corrected to %s with a warning of both', (given, corrected) => {
    const { record } = normaliseRecord(person({ phone: given }));
    expect(record.json).toMatchObject({ user: { phone: { phone: corrected } } });
    const params = { given: JSON.stringify(given), phone: corrected };
    expect(record.section.valueWarning?.(record)).toEqual(warn('phone_corrected', params));
  });

  it.each(['00999', 'tel:+41 12', '(+41) 79 I23 45 67', 'tel:+41791234567;phone-context=a.example'])(
    '%s without a plus sign at its start is dropped if it is not one number',
    (given) => {
      const { record } = normaliseRecord(person({ phone: given }));
      expect(record.json).not.toHaveProperty('user.phone');
      expect(record.dropped).toEqual([{ field: 'user.phone', text: given, isRepeated: false }]);
    },
  );

  it.each([[null], [{}], [{ phone: '' }]])('may be missing: %j', (phone) => {
    const record = person(phone);
    expect(normaliseRecord(record)).toEqual({ record });
  });

  it('does not cost the person a credential', () => {
    const { record } = normaliseRecord(person({ phone: '+41 79 123 45 67' }));
    expect(record.credentials).toEqual({ passwordHash: 'hash', totpSeed: 'SEED' });
  });
});

/** Normalises a record and returns its JSON, or the id and key of its issue. */
function normalised(section: string, value: object) {
  const { record, issue } = normaliseRecord(readRecord(sectionNamed(section), value, 'org'));
  return issue === undefined ? record.json : `${issue.id} ${issue.key}`;
}

const oidcApp = (app: object) => normalised('oidcApps', { appId: 'a', app: { projectId: 'p', name: 'n', ...app } });

describe('the normalised values of a record', () => {
  it.each([
    ['DE', 'de'],
    ['de-at', 'de-AT'],
    ['fi', 'fi'],
    ['zzz', 'LANG-lg4DP Errors.Language.NotSupported'],
    ['xx', 'LANG-3M9f2 Errors.Language.Undefined'],
    ['', 'LANG-3M9f2 Errors.Language.Undefined'],
  ])('include a known language in texts: %j', (language, expected) => {
    const value = normalised('initMessages', { language, title: 't' });
    expect(typeof value === 'string' ? value : value.language).toBe(expected);
  });

  it.each([{}, { timeout: '0s' }, { timeout: '0.000s' }])(
    'include a timeout of 20 seconds for an action with %j',
    (timeout) => {
      const action = { name: 'a', script: 's', ...timeout, allowedToFail: true };
      const json = normalised('actions', { actionId: 'a', action });
      expect(JSON.stringify(json)).toBe(
        '{"actionId":"a","action":{"name":"a","script":"s","timeout":"20s","allowedToFail":true}}',
      );
    },
  );

  it('include a login URI without the surrounding spaces, but not a text that is no URI', () => {
    const uriOf = (baseUri: string) => oidcApp({ loginVersion: { loginV2: { baseUri } } });
    const stored = (baseUri?: string) => ({
      app: { loginVersion: { loginV2: baseUri === undefined ? {} : { baseUri } } },
    });
    expect(uriOf(' https://a.example/login ')).toMatchObject(stored('https://a.example/login'));
    expect(uriOf('/login')).toMatchObject(stored('/login'));
    expect(uriOf('ht tp://%zz')).toMatchObject(stored());
    expect(JSON.stringify(uriOf('ht tp://%zz'))).not.toContain('baseUri');
  });

  it('keep the number of a provider\u2019s type, which ZITADEL exports', () => {
    const link = { userId: 'u', idpId: 'i', providedUserId: 'x', idpType: 2 };
    expect(normalised('userLinks', link)).toMatchObject({ idpType: 2 });
  });

  it('obey the rules of their fields in an export', () => {
    const person = { userId: 'u', user: { ...named, userName: ' ' } };
    expect(normalised('humanUsers', person)).toBe('COMMAND-00p2b Errors.User.Username.Empty');
  });

  it('are reported with the spelling of the file', () => {
    const value = { flowType: 'FLOW_TYPE_EXTERNAL_AUTHENTICATION', triggerType: '1', actionIds: ['a'] };
    const { record } = normaliseRecord(readRecord(sectionNamed('triggerActions'), value, 'org'));
    expect(record.json.flowType).toBe('1');
    expect(record.given).toMatchObject(value);
  });
});
