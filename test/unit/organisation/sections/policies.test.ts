import { describe, expect, it } from 'vitest';
import { checkLabelPolicy, checkLoginPolicy } from '../../../../shared/organisation/sections/policies.ts';

describe('a label policy', () => {
  it('has colours of three or six hexadecimal digits, or none', () => {
    expect(checkLabelPolicy({ primaryColor: '#0aF', warnColorDark: '#00aaFF', fontColor: '' })).toBeUndefined();
    expect(checkLabelPolicy({})).toBeUndefined();
  });

  it.each(['red', '#12345', '#1234567', '#ggg', '000000', ' #000', '#000\n', 'rgb(0,0,0)'])(
    'has no colour %j',
    (colour) => {
      expect(checkLabelPolicy({ backgroundColorDark: colour })).toEqual({
        id: 'POLICY-llsp2',
        key: 'Errors.Policy.Label.Invalid.BackgroundColorDark',
      });
    },
  );
});

describe('a login policy', () => {
  it.each([undefined, 'https://example.com', 'http://localhost:8080/x?y#z', 'com.example.app://callback', 'app:done'])(
    'may lead to %s',
    (defaultRedirectUri) => {
      expect(checkLoginPolicy({ defaultRedirectUri })).toBeUndefined();
    },
  );

  it.each(['example.com', '/path', 'https:///path', 'https:example.com', 'http://', 'http://exa mple.com', ':', '1:2'])(
    'does not lead to %j',
    (defaultRedirectUri) => {
      expect(checkLoginPolicy({ defaultRedirectUri })?.id).toBe('Org-WSfdq');
    },
  );

  it('allows factors that are specified, and knows them', () => {
    const secondFactors = ['SECOND_FACTOR_TYPE_OTP', 'SECOND_FACTOR_TYPE_OTP_EMAIL'];
    const multiFactors = ['MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION'];
    expect(checkLoginPolicy({ secondFactors, multiFactors })).toBeUndefined();
    for (const unknown of ['SECOND_FACTOR_TYPE_UNSPECIFIED', 99]) {
      expect(checkLoginPolicy({ secondFactors: [...secondFactors, unknown] })?.id).toBe('Org-SFeea');
    }
    for (const unknown of ['MULTI_FACTOR_TYPE_UNSPECIFIED', 99]) {
      expect(checkLoginPolicy({ multiFactors: [unknown] })?.id).toBe('Org-WSfrg');
    }
  });
});
