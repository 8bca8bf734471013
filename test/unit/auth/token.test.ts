import { describe, expect, it } from 'vitest';
import { authenticate } from '../../../shared/auth/authorise.ts';
import { generateToken, isWellFormed, matchesDigest, tokenDigest, tokenId } from '../../../shared/auth/token.ts';
import type { Store } from '../../../shared/store/store.ts';

const refuse = () => Promise.reject(new Error('the store was used'));
/** A store that nothing may be asked of. */
const untouchable: Store = {
  commit: refuse,
  transaction: refuse,
  getMany: refuse,
  snapshot: refuse,
  close: async () => {},
};

/** How a caller with this header is refused, without a look into the store. */
async function refusal(authorization: string | undefined): Promise<string> {
  const error: unknown = await authenticate(untouchable, authorization, 'export', new Date()).catch(
    (reason: unknown) => reason,
  );
  return String(error);
}

const INVALID = 'IdentityError: Errors.Token.Invalid (AUTH-7fs1e)';
const token = generateToken();

describe('a new token', () => {
  it('is a prefix, 32 random bytes in base64url and a checksum of 8 hexadecimal digits', () => {
    expect(token).toMatch(/^idpat_[A-Za-z0-9_-]{43}[0-9a-f]{8}$/);
    expect(isWellFormed(token)).toBe(true);
  });

  it('is another one each time', () => {
    expect(new Set(Array.from({ length: 100 }, generateToken)).size).toBe(100);
  });

  it('needs a look into the store', async () => {
    expect(await refusal(`Bearer ${token}`)).toBe('Error: the store was used');
  });
});

describe('a token is refused without a look into the store', () => {
  it('when it is cut off anywhere', async () => {
    for (let length = 0; length < token.length; length++) {
      expect(await refusal(`Bearer ${token.slice(0, length)}`), `${length} characters`).toBe(INVALID);
    }
  });

  it.each(['x', '0', ' ', '\n', '=', token])('when it is followed by %j', async (more) => {
    expect(await refusal(`Bearer ${token}${more}`)).toBe(INVALID);
  });

  it.each(['x', ' ', '\t', 'Bearer '])('when it comes after %j', async (before) => {
    expect(await refusal(`Bearer ${before}${token}`)).toBe(INVALID);
  });

  it('when any single character is another', async () => {
    for (let at = 0; at < token.length; at++) {
      for (const other of 'Aa0_-zF9'.replaceAll(token[at] ?? '', '')) {
        const changed = `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
        expect(await refusal(`Bearer ${changed}`), `${other} at ${at}`).toBe(INVALID);
      }
    }
  });

  it('when any two characters beside each other are swapped', async () => {
    for (let at = 1; at < token.length; at++) {
      const [one = '', other = ''] = token.slice(at - 1, at + 1);
      if (one === other) continue;
      const swapped = `${token.slice(0, at - 1)}${other}${one}${token.slice(at + 1)}`;
      expect(await refusal(`Bearer ${swapped}`), `at ${at}`).toBe(INVALID);
    }
  });

  it('when it is of another kind', async () => {
    expect(await refusal('Bearer ZGFzLWlzdC1laW4tWklUQURFTC1Ub2tlbg_kJ8aQ7Yy')).toBe(INVALID);
    expect(await refusal('Bearer eyJhbGciOiJub25lIn0.e30.')).toBe(INVALID);
  });
});

describe('a header that is no bearer token', () => {
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

describe('what is stored of a token', () => {
  it('does not tell it', () => {
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
});
