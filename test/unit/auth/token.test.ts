import * as crypto from 'node:crypto';
import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { authenticate } from '../../../shared/auth/authorise.ts';
import {
  generateToken,
  isWellFormed,
  matchesDigest,
  tokenDigest,
  tokenId,
  tokenKey,
} from '../../../shared/auth/token.ts';
import { trialAdvice } from '../../../shared/store/overlay.ts';
import type { Store, Write } from '../../../shared/store/store.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';
import { MemoryStore } from '../../support/stores/memoryStore.ts';

// Modules that an earlier test file has loaded do not know the mocks, and later files must not get them.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
vi.mock(import('node:crypto'), async (original) => {
  const actual = await original();
  return { ...actual, timingSafeEqual: vi.fn(actual.timingSafeEqual) };
});

const refuse = () => Promise.reject(new Error('the store was used'));
/** A store that must not be called. */
const untouchable: Store = {
  commit: refuse,
  transaction: refuse,
  getMany: refuse,
  snapshot: refuse,
  durable: refuse,
  forCall: () => untouchable,
  advice: trialAdvice,
  close: async () => {},
  trail: undefined,
  lock: { take: refuse, position: refuse },
  counts: { read: 0, written: 0 },
};

/** The rejection of a caller with this header by a store that fails when it is used. */
function refusal(authorization: string | undefined, store = untouchable): Promise<string> {
  return authenticate(store, authorization, 'export', new Date()).then(() => 'accepted', String);
}

const INVALID = 'IdentityError: Errors.Token.Invalid (AUTH-7fs1e)';
const token = generateToken();

describe('a new token', () => {
  it('is a prefix, 32 random bytes in base64url and a checksum of 8 hexadecimal digits', () => {
    expect(token).toMatch(/^idpat_[A-Za-z0-9_-]{43}[0-9a-f]{8}$/);
    expect(isWellFormed(token)).toBe(true);
  });

  it('differs each time', () => {
    expect(new Set(Array.from({ length: 100 }, generateToken)).size).toBe(100);
  });

  it('requires a read from the store', async () => {
    expect(await refusal(`Bearer ${token}`)).toBe('Error: the store was used');
  });
});

describe('a token is rejected without a read from the store', () => {
  it('when it is cut off anywhere', async () => {
    for (let length = 0; length < token.length; length++) {
      expect(await refusal(`Bearer ${token.slice(0, length)}`), `${length} characters`).toBe(INVALID);
    }
  });

  it('when any byte precedes or follows it', async () => {
    for (let byte = 0; byte < 256; byte++) {
      const more = String.fromCharCode(byte);
      expect(await refusal(`Bearer ${token}${more}`), `${byte} after it`).toBe(INVALID);
      expect(await refusal(`Bearer ${more}${token}`), `${byte} before it`).toBe(INVALID);
    }
  });

  it('when any text is inserted anywhere', async () => {
    const text = fc.string({ unit: anyCharacter, minLength: 1 });
    await fc.assert(
      fc.asyncProperty(text, fc.nat({ max: token.length }), async (more, at) => {
        expect(await refusal(`Bearer ${token.slice(0, at)}${more}${token.slice(at)}`)).toBe(INVALID);
      }),
    );
  });

  it('when any single bit is flipped', async () => {
    const bytes = Buffer.from(token, 'latin1');
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(await refusal(`Bearer ${flipped.toString('latin1')}`), `bit ${bit}`).toBe(INVALID);
    }
  });

  it('when it has the prefix of another kind of token', async () => {
    expect(await refusal('Bearer ZGFzLWlzdC1laW4tWklUQURFTC1Ub2tlbg_kJ8aQ7Yy')).toBe(INVALID);
    expect(await refusal('Bearer eyJhbGciOiJub25lIn0.e30.')).toBe(INVALID);
  });
});

describe('an Authorization header that is not a bearer token', () => {
  it.each([undefined, ''])('is missing when it is %j', async (header) => {
    expect(await refusal(header)).toBe('IdentityError: auth header missing');
  });

  it.each(['Bearer', token, `bearer ${token}`, `Basic ${token}`, `Bearer\t${token}`])(
    'is invalid when it is %j',
    async (header) => {
      expect(await refusal(header)).toBe('IdentityError: invalid auth header (AUTH-toLo1)');
    },
  );
});

describe('a token with the right checksum', () => {
  it('is rejected after one read if its id is unknown', async () => {
    expect(await read([])).toEqual({ outcome: INVALID, keys: [[tokenKey(tokenId(token))]] });
  });

  it('is rejected after one read if its id is stored with the digest of another secret', async () => {
    const other = { ownerId: 'ada', digest: tokenDigest(generateToken()) };
    expect(await read([storedToken(other)])).toEqual({ outcome: INVALID, keys: [[tokenKey(tokenId(token))]] });
  });

  it('is rejected after one read if it is stored without a digest or an owner', async () => {
    for (const fields of [{ ownerId: 'ada' }, { digest: tokenDigest(token) }])
      expect(await read([storedToken(fields)])).toMatchObject({ outcome: INVALID, keys: [{ length: 1 }] });
  });

  function storedToken(fields: { ownerId?: string; digest?: string }): Write {
    return { type: 'create', key: tokenKey(tokenId(token)), fields };
  }

  async function read(writes: readonly Write[]) {
    const memory = await MemoryStore.with(writes);
    const store = { ...untouchable, getMany: memory.getMany.bind(memory) };
    const outcome = await refusal(`Bearer ${token}`, store);
    return { outcome, keys: memory.reads.map(({ keys }) => keys) };
  }
});

describe('the stored digest of a token', () => {
  it('does not contain the token', () => {
    expect(tokenDigest(token)).toMatch(/^[0-9a-f]{64}$/);
    expect(tokenId(token)).toMatch(/^[0-9a-f]{32}$/);
    expect(token).not.toContain(tokenId(token));
  });

  it('matches that token and no other', () => {
    expect(matchesDigest(token, tokenDigest(token))).toBe(true);
    expect(matchesDigest(token, tokenDigest(generateToken()))).toBe(false);
    for (const digest of ['', 'zz', tokenDigest(token).slice(0, 62), `${tokenDigest(token)}00`]) {
      expect(matchesDigest(token, digest)).toBe(false);
    }
  });

  it('is compared in constant time, whether it matches or not', () => {
    const almost = tokenDigest(token).replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const digests = [tokenDigest(token), almost, tokenDigest(generateToken())];
    for (const digest of digests) {
      const compare = vi.mocked(crypto.timingSafeEqual);
      compare.mockClear();
      const isSame = matchesDigest(token, digest);
      const sizes = compare.mock.calls.map(([actual, expected]) => [actual.byteLength, expected.byteLength]);
      expect({ isSame, sizes }).toEqual({ isSame: digest === tokenDigest(token), sizes: [[32, 32]] });
    }
  });
});
