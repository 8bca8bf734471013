import { describe, expect, it } from 'vitest';
import { Keyring, temporaryKeyring, variableKeyring } from '../../../../shared/store/secrets/keyring.ts';
import { generateMasterKey, seal, sealingKeyId, unseal } from '../../../../shared/store/secrets/masterKey.ts';

const PLACE = 'totpSeed of users/a';

describe('an encrypted value', () => {
  it.each(['JBSWY3DPEHPK3PXP', '', 'ä😀\0\n"', 'x'.repeat(100_000)])('decrypts to what it was: %.20j', (text) => {
    const keyring = temporaryKeyring();
    const sealed = seal(keyring.newest(), text, PLACE);
    expect(sealingKeyId(sealed)).toBe(keyring.newest().id);
    expect(unseal(keyring, sealed, PLACE)).toBe(text);
  });

  it('decrypts nowhere else', () => {
    const keyring = temporaryKeyring();
    const sealed = seal(keyring.newest(), 'SEED', PLACE);
    for (const place of ['totpSeed of users/b', 'clientSecret of users/a', ''])
      expect(() => unseal(keyring, sealed, place)).toThrow('copied from another document');
  });

  it('does not decrypt when any of its bits has changed, or a part is missing', () => {
    const keyring = temporaryKeyring();
    const { id } = keyring.newest();
    const sealed = seal(keyring.newest(), 'SEED', PLACE);
    const bytes = Buffer.from(sealed.slice(id.length + 1), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => unseal(keyring, `${id}.${changed.toString('base64url')}`, PLACE)).toThrow('it was changed');
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

  it('names its key, which another keyring does not have', () => {
    const key = generateMasterKey();
    const sealed = seal(key, 'SEED', PLACE);
    const refused = (id: string) => expect.objectContaining({ code: 'UNAVAILABLE', id });
    expect(() => unseal(temporaryKeyring(), sealed, PLACE)).toThrow(refused('IDENTITY-masterKeyUnknown'));
    expect(() => unseal(new Keyring({ read: () => [] }), sealed, PLACE)).toThrow(refused('IDENTITY-masterKeyMissing'));
    const both = variableKeyring(`${generateMasterKey().text},${key.text}`);
    expect(unseal(both, sealed, PLACE)).toBe('SEED');
  });
});

describe('a keyring', () => {
  it('reads its source again for a key that it does not know, and forgets none', () => {
    const [first, second] = [generateMasterKey(), generateMasterKey()];
    let keys = [first];
    const keyring = new Keyring({ read: () => keys });
    expect(keyring.newest().id).toBe(first.id);
    keys = [second];
    expect(keyring.require(second.id).id).toBe(second.id);
    expect(keyring.require(first.id).id).toBe(first.id);
  });
});
