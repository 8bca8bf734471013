import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { generateMasterKey, parseMasterKeys } from '../../../../shared/store/secrets/masterKey.ts';

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
    // The id must not change: databases name their keys by it.
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
  ])('is not %j', (text) => {
    expect(parseMasterKeys(text)).toBeUndefined();
  });

  it('may follow another one, after a comma or white space', () => {
    const keys = [generateMasterKey(), generateMasterKey(), generateMasterKey()];
    const [first, second, third] = keys.map(({ text }) => text);
    expect(parseMasterKeys(`${first},${second}\n ${third} `)?.map(({ id }) => id)).toEqual(keys.map(({ id }) => id));
  });

  it('has an id that shows no byte of it', () => {
    const key = generateMasterKey();
    const id = Buffer.from(key.id, 'base64url');
    expect(id).toHaveLength(9);
    expect(Buffer.from(key.text, 'base64').includes(id.subarray(0, 4))).toBe(false);
    expect(key.cipherKey.export().equals(Buffer.from(key.text, 'base64'))).toBe(false);
  });
});
