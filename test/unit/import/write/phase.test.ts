import { describe, expect, it } from 'vitest';
import { withPhoneNumber } from '../../../../functions/import/write/phase.ts';
import { readRecord } from '../../../../shared/organisation/record.ts';
import { sectionNamed } from '../../../support/fixtures/sectionNamed.ts';

function person(phone: object | null) {
  const user = { userName: 'a', otpCode: 'SEED', hashedPassword: { value: 'hash' }, phone };
  return readRecord(sectionNamed('humanUsers'), { userId: 'u', user }, 'org');
}

describe('the phone number of a person', () => {
  it.each([
    ['+1 (415) 555-2671', '+14155552671'],
    ['+41 (0)79 123 45 67', '+41791234567'],
    ['+44 20 7946 0018 ext. 12', '+442079460018'],
    ['+４１７９１２３４５６７', '+41791234567'],
    ['+39 06 1234 5678', '+390612345678'],
    ['+4112', '+4112'],
  ])('%s is kept as %s', (given, kept) => {
    const { record, issue } = withPhoneNumber(person({ phone: given, isPhoneVerified: true }));
    expect(issue).toBeUndefined();
    expect(record).toEqual(person({ phone: kept, isPhoneVerified: true }));
  });

  it.each(['+', '+abc', '+999123456', '+411', `+41${'1'.repeat(18)}`, '+41791234567 or so', 'call +41791234567'])(
    'is refused as %j',
    (given) => {
      const { issue } = withPhoneNumber(person({ phone: given }));
      expect(issue).toEqual({ id: 'PHONE-so0wa', key: 'Errors.User.Phone.Invalid' });
    },
  );

  it.each([[null], [{}], [{ phone: '' }]])('may be missing: %j', (phone) => {
    const record = person(phone);
    expect(withPhoneNumber(record)).toEqual({ record });
  });

  it('costs the person no credential', () => {
    const { record } = withPhoneNumber(person({ phone: '+41 79 123 45 67' }));
    expect(record.credentials).toEqual({ passwordHash: 'hash', totpSeed: 'SEED' });
  });
});
