import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { givenKeyring, Keyring, temporaryKeyring } from '../../../../shared/store/secrets/keyring.ts';
import {
  generateMasterKey,
  parseMasterKeys,
  seal,
  sealingKeyId,
  unseal,
} from '../../../../shared/store/secrets/masterKey.ts';
import type { ErrorReason } from '../../../support/errorReason.ts';

const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7));

describe('a master key', () => {
  it.each([
    ['base64', bytes.toString('base64')],
    ['base64 without padding', bytes.toString('base64').replace('=', '')],
    ['base64url', bytes.toString('base64url')],
    ['hex', bytes.toString('hex')],
    ['hex in capitals', bytes.toString('hex').toUpperCase()],
    ['a line', `# a comment\n${bytes.toString('base64')}\n`],
  ])('may be written as %s', (_form, text) => {
    const [key, ...others] = parseMasterKeys(text) ?? [];
    expect(others).toEqual([]);
    // The id must not change, because databases refer to their keys by it.
    expect(key).toMatchObject({ id: '_8yaLrfwFosp', text: bytes.toString('base64') });
  });

  it.each([
    '',
    '# only a comment',
    'password',
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
    randomBytes(31).toString('hex'),
    `${randomBytes(32).toString('hex')},password`,
  ])('may not be %j', (text) => {
    expect(parseMasterKeys(text)).toBeUndefined();
  });

  it('may follow another key, after a comma or white space', () => {
    const keys = [generateMasterKey(), generateMasterKey(), generateMasterKey()];
    const [first, second, third] = keys.map(({ text }) => text);
    expect(parseMasterKeys(`${first},${second}\n ${third} `)?.map(({ id }) => id)).toEqual(keys.map(({ id }) => id));
  });

  it('has an id that contains none of its bytes', () => {
    const key = generateMasterKey();
    const id = Buffer.from(key.id, 'base64url');
    expect(id).toHaveLength(9);
    expect(Buffer.from(key.text, 'base64').includes(id.subarray(0, 4))).toBe(false);
    expect(key.cipherKey.export().equals(Buffer.from(key.text, 'base64'))).toBe(false);
  });
});

const PLACE = 'totpSeed of users/a';

describe('an encrypted value', () => {
  it.each(['JBSWY3DPEHPK3PXP', '', 'ä😀\0\n"', 'x'.repeat(100_000)])('decrypts to the original: %.20j', (text) => {
    const keyring = temporaryKeyring();
    const sealed = seal(keyring.newest(), text, PLACE);
    expect(sealingKeyId(sealed)).toBe(keyring.newest().id);
    expect(unseal(keyring, sealed, PLACE)).toBe(text);
  });

  it('decrypts in its stored form, which no release may change', () => {
    const keyring = givenKeyring(bytes.toString('base64'));
    const sealed = '_8yaLrfwFosp.LooymOpSeBF7qa2lA6_c4mBCupXJPIZN-qxHP5cBwCk';
    expect(unseal(keyring, sealed, PLACE)).toBe('SEED');
  });

  it('does not decrypt if any of its bits has changed, or a part is missing', () => {
    const keyring = temporaryKeyring();
    const { id } = keyring.newest();
    const sealed = seal(keyring.newest(), 'SEED', PLACE);
    const bytes = Buffer.from(sealed.slice(id.length + 1), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => unseal(keyring, `${id}.${changed.toString('base64url')}`, PLACE)).toThrow('the value was changed');
    }
    for (let length = 0; length < bytes.length; length++)
      expect(() => unseal(keyring, `${id}.${bytes.subarray(0, length).toString('base64url')}`, PLACE)).toThrow();
  });

  it('is never the same twice', () => {
    const key = generateMasterKey();
    const nonces = Array.from({ length: 1_000 }, () =>
      seal(key, 'SEED', PLACE).slice(key.id.length + 1, key.id.length + 17),
    );
    expect(new Set(nonces).size).toBe(1_000);
  });

  it('contains the id of its key, which another keyring does not have', () => {
    const key = generateMasterKey();
    const sealed = seal(key, 'SEED', PLACE);
    const refused = (reason: ErrorReason) => expect.objectContaining({ code: 'UNAVAILABLE', reason });
    expect(() => unseal(temporaryKeyring(), sealed, PLACE)).toThrow(refused('MASTER_KEY_UNKNOWN'));
    expect(() => unseal(new Keyring({ read: () => [] }), sealed, PLACE)).toThrow(refused('MASTER_KEY_MISSING'));
    const both = givenKeyring(`${generateMasterKey().text},${key.text}`);
    expect(unseal(both, sealed, PLACE)).toBe('SEED');
  });
});

describe('a keyring', () => {
  it('reads its source again for an unknown key, and forgets none', () => {
    const [first, second] = [generateMasterKey(), generateMasterKey()];
    let keys = [first];
    const keyring = new Keyring({ read: () => keys });
    expect(keyring.newest().id).toBe(first.id);
    keys = [second];
    expect(keyring.require(second.id).id).toBe(second.id);
    expect(keyring.require(first.id).id).toBe(first.id);
  });
});
