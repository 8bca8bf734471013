import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readServiceAccount } from '../../../shared/objectStorage/serviceAccount.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const pkcs1 = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const publicKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' });

const file = {
  type: 'service_account',
  project_id: 'secret-project',
  private_key_id: 'secret-key-id',
  private_key: pkcs8,
  client_email: 'secret@secret-project.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
  universe_domain: 'googleapis.com',
};
const rsaKey = (modulusLength: number) =>
  generateKeyPairSync('rsa', { modulusLength }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
/** A PKCS #1 key with some of its numbers replaced: the file of a key that no tool creates. */
function forgedKey(replaced: Readonly<Partial<Record<'n' | 'e' | 'd' | 'p', Buffer>>>): string {
  const jwk = { ...privateKey.export({ format: 'jwk' }), ...base64urlOf(replaced) };
  const { n, e, d, p, q, dp, dq, qi } = jwk;
  const numbers = ['AA', n, e, d, p, q, dp, dq, qi].map((part) => derInteger(Buffer.from(part ?? '', 'base64url')));
  const body = der(0x30, Buffer.concat(numbers)).toString('base64');
  return `-----BEGIN RSA PRIVATE KEY-----\n${body.replace(/.{1,64}/g, '$&\n')}-----END RSA PRIVATE KEY-----\n`;
}
const base64urlOf = (parts: Readonly<Record<string, Buffer>>) =>
  Object.fromEntries(Object.entries(parts).map(([name, bytes]) => [name, bytes.toString('base64url')]));
const derInteger = (bytes: Buffer) =>
  der(0x02, (bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([Buffer.alloc(1), bytes]));
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}
/** An odd number. */
const oddNumber = (bits: number) => Buffer.alloc(bits / 8, 0xff);
const KEY_SIZE = 'invalid private_key: must have 2048 to 4096 bits';
const TOO_LARGE = 'invalid private_key: modulus or exponent too large';
const FOREIGN = 'unknown token_uri: use the key file exactly as Google issued it';
const field = 'gcs_output.serviceaccount_json';
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
/** Returns the key file with some other fields, as a request contains it. */
const fileWith = (fields: object) => base64({ ...file, ...fields });
const withKey = (private_key: unknown) => fileWith({ private_key });
const account = { clientEmail: file.client_email, privateKey: pkcs8 };

describe('a service account in a request', () => {
  it('contributes its address and its key, and nothing else', () => {
    expect(readServiceAccount(base64(file), field)).toEqual(account);
  });

  it.each([
    ['URL-safe base64', Buffer.from(JSON.stringify({ ...file, note: '???>>>' })).toString('base64url')],
    ['base64 with line breaks', base64(file).replace(/.{76}/g, '$&\r\n')],
    ['base64 without padding', base64(file).replace(/=+$/, '')],
    ['a token URI of old', fileWith({ token_uri: 'https://accounts.google.com/o/oauth2/token' })],
    ['a file without token URI and universe', fileWith({ token_uri: undefined, universe_domain: undefined })],
    ['a key in PKCS #1', withKey(pkcs1)],
  ])('may come as %s', (_, text) => {
    expect(readServiceAccount(text, field)).toEqual(account);
  });

  it.each([2_048, 4_096])('may have a key of %i bits', (bits) => {
    const key = rsaKey(bits);
    expect(readServiceAccount(withKey(key), field).privateKey).toBe(key);
  });

  it.each([
    ['a large exponent', { e: oddNumber(20_000) }],
    ['a modulus that is not that of its primes', { p: oddNumber(8_000) }],
  ])('is read even after a forged key with %s', (_, parts) => {
    refusal(withKey(forgedKey(parts)));
    expect(readServiceAccount(base64(file), field)).toEqual(account);
  });

  it('may have an exponent of 32 bits', () => {
    const key = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 0xffff_fffb }).privateKey;
    const pem = key.export({ type: 'pkcs8', format: 'pem' });
    expect(readServiceAccount(withKey(pem), field).privateKey).toBe(pem);
  });

  it.each([
    ['nothing', '', 'must not be empty'],
    ['plain JSON', JSON.stringify(file), 'must be base64'],
    ['half a file', base64(file).slice(0, 400), 'must be the base64 of a JSON file'],
    ['no JSON', Buffer.from('secret').toString('base64'), 'must be the base64 of a JSON file'],
    ['a JSON list', base64([file]), 'must be the base64 of a service account key file: it has no field "type"'],
    [
      'no type',
      fileWith({ type: undefined }),
      'must be the base64 of a service account key file: it has no field "type"',
    ],
    ['a key that is too short', withKey(rsaKey(2_047)), KEY_SIZE],
    ['a key that is too long', withKey(forgedKey({ n: oddNumber(4_104) })), KEY_SIZE],
    ['a key of 8,192 bits', withKey(forgedKey({ n: oddNumber(8_192) })), TOO_LARGE],
    ['a key with an expensive exponent', withKey(forgedKey({ e: oddNumber(20_000) })), TOO_LARGE],
    ['a key whose exponent has 33 bits', withKey(forgedKey({ e: Buffer.from('0100000001', 'hex') })), TOO_LARGE],
    [
      'a key whose primes do not make its modulus',
      withKey(forgedKey({ p: oddNumber(8_000) })),
      'invalid private_key: the public and private parts do not match',
    ],
    ['too long a text for a key', withKey('A'.repeat(8_193)), 'invalid private_key: too long'],
    ['too much', 'A'.repeat(65_537), 'too large for a service account key file'],
    ['an unknown type', fileWith({ type: 'secret' }), 'unknown credential type: use service_account'],
    ['another token URI', fileWith({ token_uri: 'https://secret.example/token' }), FOREIGN],
    ['a token URI that is no text', fileWith({ token_uri: 1 }), FOREIGN],
    [
      'another universe',
      fileWith({ universe_domain: 'secret.example' }),
      'unsupported universe_domain: only googleapis.com is supported',
    ],
    ['no address', fileWith({ client_email: undefined }), 'missing client_email'],
    ['a wrong address', fileWith({ client_email: 'secret' }), 'invalid client_email: must be an e-mail address'],
    ['no key', withKey(undefined), 'missing private_key'],
    ['a broken key', withKey(pkcs8.replace(/M/g, 'N')), 'invalid private_key: must be a PEM private key'],
    ['a public key', withKey(publicKey), 'invalid private_key: must be a PEM private key'],
    ['a key that is not RSA', withKey(curve), 'invalid private_key: must be an RSA key'],
  ])('is rejected as %s', (_, text, description) => {
    expect(refusal(text)).toEqual({ code: 'INVALID_ARGUMENT', message: `${field}: ${description}` });
  });

  it.each([
    'authorized_user',
    'external_account',
    'external_account_authorized_user',
    'gdch_service_account',
    'impersonated_service_account',
  ])('is rejected, by name, as a credential of type %s', (type) => {
    const description = `unsupported credential type ${type}: use service_account`;
    expect(refusal(fileWith({ type }))).toEqual({
      code: 'INVALID_ARGUMENT',
      message: `${field}: ${description}`,
    });
  });
});

/** The error's message; it never repeats a value of the request. */
function refusal(text: string): { code: string; message: string } {
  try {
    readServiceAccount(text, field);
  } catch (error) {
    const { code, message } = Object.assign({ code: '', message: '' }, error, {
      message: String(Object(error).message),
    });
    expect(JSON.stringify(error)).not.toMatch(/secret|PRIVATE/);
    expect(Object(error).cause).toBeUndefined();
    return { code, message };
  }
  throw new Error('not refused');
}
