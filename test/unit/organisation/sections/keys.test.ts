import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isPublicKey } from '../../../../shared/organisation/sections/keys.ts';
import { zitadelExport } from '../../../support/fixtures/organisations.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const spki = der(publicKey, 'spki');
const pkcs1 = der(publicKey, 'pkcs1');

function der(key: KeyObject, type: 'spki' | 'pkcs1' | 'pkcs8'): Buffer {
  return type === 'pkcs8' ? key.export({ type, format: 'der' }) : key.export({ type, format: 'der' });
}

function pem(label: string, bytes: Buffer): string {
  return `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;
}

const elliptic = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).publicKey;

describe('a public key', () => {
  it.each([
    ['SubjectPublicKeyInfo', pem('PUBLIC KEY', spki)],
    ["SubjectPublicKeyInfo under ZITADEL's label", pem('RSA PUBLIC KEY', spki)],
    ['SubjectPublicKeyInfo under any label', pem('CERTIFICATE', spki)],
    ['PKCS #1', pem('RSA PUBLIC KEY', pkcs1)],
    ['PKCS #1 under the label of the other', pem('PUBLIC KEY', pkcs1)],
    ['with other lines around it', `key of robot\n${pem('PUBLIC KEY', spki)}\nend`],
    ['with line breaks of Windows', pem('PUBLIC KEY', spki).replaceAll('\n', '\r\n')],
    ['with headers', pem('PUBLIC KEY', spki).replace('-----\n', '-----\nComment: robot\n\n')],
    ['of an elliptic curve', pem('PUBLIC KEY', der(elliptic('P-256'), 'spki'))],
    ['of Ed25519', pem('PUBLIC KEY', der(generateKeyPairSync('ed25519').publicKey, 'spki'))],
  ])('may be %s', (_what, text) => {
    expect(isPublicKey(text)).toBe(true);
  });

  it.each([
    ['a private key in PKCS #1', pem('RSA PRIVATE KEY', der(privateKey, 'pkcs1'))],
    ['a private key in PKCS #1 under the label of a public one', pem('RSA PUBLIC KEY', der(privateKey, 'pkcs1'))],
    ['a private key in PKCS #8', pem('PRIVATE KEY', der(privateKey, 'pkcs8'))],
    ['a private key in PKCS #8 under the label of a public one', pem('PUBLIC KEY', der(privateKey, 'pkcs8'))],
    ['a key with a byte behind it', pem('PUBLIC KEY', Buffer.concat([spki, Buffer.of(0)]))],
    ['a truncated key', pem('PUBLIC KEY', spki.subarray(0, -1))],
    ['a key of a curve that ZITADEL does not support', pem('PUBLIC KEY', der(elliptic('secp256k1'), 'spki'))],
    [
      'a key of a kind that ZITADEL does not support',
      pem('PUBLIC KEY', der(generateKeyPairSync('ed448').publicKey, 'spki')),
    ],
    ['a second block after the first one', pem('PUBLIC KEY', Buffer.from('x')) + pem('PUBLIC KEY', spki)],
    ['a block that ends under another label', pem('PUBLIC KEY', spki).replace('END PUBLIC', 'END RSA PUBLIC')],
    ['base64 with other characters', pem('PUBLIC KEY', spki).replace('MII', 'M*II')],
    ['DER', spki.toString('latin1')],
    ['empty', ''],
  ])('may not be %s', (_what, text) => {
    expect(isPublicKey(text)).toBe(false);
  });

  it('may be any one that ZITADEL exported', () => {
    const keys = zitadelExport('export-made-by-api').flatMap(({ machineKeys = [], appKeys = [] }) =>
      [machineKeys, appKeys].flat(),
    );
    const texts = keys.map((key) => Buffer.from(String(Object(key).publicKey), 'base64').toString());
    expect(texts.map((text) => [text.split('\n')[0], isPublicKey(text)])).toEqual(
      Array.from({ length: 3 }, () => ['-----BEGIN RSA PUBLIC KEY-----', true]),
    );
  });

  it('is read in linear time', () => {
    const start = process.threadCpuUsage();
    expect(isPublicKey('-----BEGIN '.repeat(100_000))).toBe(false);
    expect(isPublicKey(`-----BEGIN A-----\n${'a:\n'.repeat(300_000)}`)).toBe(false);
    expect(isPublicKey(`-----BEGIN A-----\n${' '.repeat(1_000_000)}`)).toBe(false);
    const { user, system } = process.threadCpuUsage(start);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });
});
