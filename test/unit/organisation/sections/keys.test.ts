import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { checkApplicationOfKey, checkExpiry, checkMachineKey } from '../../../../shared/organisation/sections/keys.ts';

const NOW = '2026-11-21T00:00:00.000Z';
const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = publicKey.export({ type: 'spki', format: 'pem' });
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('the key of a service user', () => {
  it('is a public key in PEM', () => {
    expect(checkMachineKey({ publicKey: base64(`${pem}`) }, NOW)).toBeUndefined();
  });

  it('may be missing: there is nothing to check then', () => {
    expect(checkMachineKey({}, NOW)).toBeUndefined();
  });

  it.each(['none', `${pem}`.slice(0, 80)])('is not %j', (text) => {
    expect(checkMachineKey({ publicKey: base64(text) }, NOW)).toEqual({
      id: 'COMMAND-5F3h1',
      key: 'Errors.User.Machine.Key.Invalid',
    });
  });

  it('has not expired', () => {
    const record = { publicKey: base64(`${pem}`), expirationDate: '2026-11-20T23:59:59Z' };
    expect(checkMachineKey(record, NOW)).toEqual({ id: 'DOMAIN-dv3t5', key: 'Errors.AuthNKey.ExpireBeforeNow' });
  });
});

describe('the date until which a key is valid', () => {
  it.each([undefined, NOW, '2026-11-21T00:00:01Z', '9999-12-31T23:59:59Z'])('may be %s', (expirationDate) => {
    expect(checkExpiry({ expirationDate }, NOW)).toBeUndefined();
  });

  it('is not past', () => {
    expect(checkExpiry({ expirationDate: '2020-01-01T00:00:00Z' }, NOW)?.id).toBe('DOMAIN-dv3t5');
  });
});

describe('the application of a key', () => {
  it.each(['API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT', 'OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT'])('is one of %s', (type) => {
    expect(checkApplicationOfKey({ app: { authMethodType: type } })).toBeUndefined();
  });

  it.each([undefined, 'OIDC_AUTH_METHOD_TYPE_POST'])('is none of %s', (authMethodType) => {
    expect(checkApplicationOfKey({ app: { authMethodType } })?.id).toBe('COMMAND-Dff54');
  });
});
