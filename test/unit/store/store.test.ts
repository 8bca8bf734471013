import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { documentId } from '../../../shared/store/store.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

const anyPart = fc.string({ unit: anyCharacter, maxLength: 40 });
const anyKey = fc.array(anyPart, { minLength: 1, maxLength: 4 });
const longKey = fc.array(fc.string({ unit: anyCharacter, minLength: 300, maxLength: 700 }), {
  minLength: 3,
  maxLength: 4,
});

describe('a document id', () => {
  it('is readable: the parts of its key, percent-encoded if they would be misread', () => {
    expect(documentId('loginName', 'a/b|c%')).toBe('loginName|a%2fb%7cc%25');
  });

  it('differs for different keys', () => {
    fc.assert(
      fc.property(fc.oneof(anyKey, longKey), fc.oneof(anyKey, longKey), (one, other) => {
        expect(documentId(...one) === documentId(...other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });

  it('differs for keys whose parts are divided in another way', () => {
    const keys = [['a', 'b'], ['a|b'], ['a%7cb'], ['a', '', 'b'], ['ab'], ['', 'ab'], ['ab', '']];
    expect(new Set(keys.map((key) => documentId(...key))).size).toBe(keys.length);
  });

  it('is valid in Firestore: no slash, with its prefix at most 1,500 bytes of whole characters', () => {
    fc.assert(
      fc.property(fc.oneof(anyKey, longKey), (key) => {
        const id = documentId(...key);
        expect(id).not.toContain('/');
        expect(Buffer.byteLength(id)).toBeLessThanOrEqual(1_500 - '00~'.length);
        expect(id.isWellFormed()).toBe(true);
      }),
    );
  });

  it('of a long key is longer than that of any key which is not shortened', () => {
    const shortest = documentId('x'.repeat(1_401));
    const longest = documentId('x'.repeat(1_400));
    expect(longest).toHaveLength(1_400);
    expect(shortest.length).toBeGreaterThan(1_400);
    expect(shortest).toMatch(/~[0-9a-f]{64}$/);
  });

  it('differs for long keys that only differ at their ends', () => {
    const start = '😀'.repeat(500);
    expect(documentId(start, 'a')).not.toBe(documentId(start, 'b'));
  });
});
