import { describe, expect, it } from 'vitest';
import { createPersonalAccessToken } from '../../../shared/accounts/personalAccessTokens.ts';
import {
  authenticate,
  organisationKey,
  parseRestriction,
  parseRoles,
  userKey,
} from '../../../shared/auth/authorise.ts';
import { tokenExpired, tokenInvalid } from '../../../shared/errors/errors.ts';
import { reasonOf } from '../../../shared/errors/identityError.ts';
import type { Write } from '../../../shared/store/store.ts';
import { MemoryStore } from '../../support/stores/memoryStore.ts';

const NOW = new Date('2026-11-22T12:00:00Z');
const MINUTE_MS = 60_000;
const INVALID = 'IdentityError: Errors.Token.Invalid (AUTH-7fs1e)';
const INACTIVE = /^IdentityError: the organisation of the token's user is inactive or removed: /;

/** Authenticates with a token of the user Ada, whose document and organisation have the given states. */
async function authenticateAs(user: object | undefined, organisation: object | undefined, issued = NOW) {
  const { created, write } = createPersonalAccessToken('ada', issued, MINUTE_MS);
  const documents: readonly [Write['key'], object | undefined][] = [
    [userKey('ada'), user],
    [organisationKey('O'), organisation],
  ];
  const writes = documents.flatMap(([key, fields]): Write[] =>
    fields === undefined ? [] : [{ type: 'create', key, fields }],
  );
  const store = await MemoryStore.with([write, ...writes]);
  return authenticate(store, `Bearer ${created.token}`, 'otp-email', NOW).then(({ userId }) => userId, String);
}

/** Returns the name of the error for a token. */
async function rejection(writes: readonly Write[], token: string): Promise<unknown> {
  const store = await MemoryStore.with(writes);
  return authenticate(store, `Bearer ${token}`, 'otp-email', NOW).then(({ userId }) => userId, reasonOf);
}

const active = { state: 'USER_STATE_ACTIVE', orgId: 'O' };
const open = { state: 'ORG_STATE_ACTIVE' };

describe('a valid token', () => {
  it.each(['USER_STATE_ACTIVE', 'USER_STATE_INITIAL'])('authenticates its owner in the state %s', async (state) => {
    expect(await authenticateAs({ ...active, state }, open)).toBe('ada');
  });

  it.each(['USER_STATE_INACTIVE', 'USER_STATE_LOCKED', 'USER_STATE_SUSPEND', 'USER_STATE_DELETED'])(
    'is rejected while its owner is in the state %s',
    async (state) => {
      expect(await authenticateAs({ ...active, state }, open)).toBe(INVALID);
    },
  );

  it('is rejected when its owner does not exist', async () => {
    expect(await authenticateAs(undefined, open)).toBe(INVALID);
  });

  it.each(['ORG_STATE_INACTIVE', 'ORG_STATE_REMOVED'])(
    "is rejected while its owner's organisation is in the state %s, after the owner's own state",
    async (state) => {
      expect(await authenticateAs(active, { state })).toMatch(INACTIVE);
      expect(await authenticateAs({ ...active, state: 'USER_STATE_LOCKED' }, { state })).toBe(INVALID);
    },
  );

  it('is rejected from the millisecond of its expiry', async () => {
    expect(await authenticateAs(active, open, new Date(NOW.getTime() - MINUTE_MS + 1))).toBe('ada');
    expect(await authenticateAs(active, open, new Date(NOW.getTime() - MINUTE_MS))).toBe(INVALID);
  });
});

describe('the error for a token', () => {
  const { created, write } = createPersonalAccessToken('ada', NOW, MINUTE_MS);
  const expired = createPersonalAccessToken('ada', new Date(NOW.getTime() - MINUTE_MS), MINUTE_MS);
  const locked: Write = { type: 'create', key: userKey('ada'), fields: { ...active, state: 'USER_STATE_LOCKED' } };

  it('names the reason; message and id are those of ZITADEL', async () => {
    expect(await rejection([], 'malformed')).toBe('TOKEN_INVALID');
    expect(await rejection([], created.token)).toBe('TOKEN_NOT_FOUND');
    expect(await rejection([expired.write], expired.created.token)).toBe('TOKEN_EXPIRED');
    expect(await rejection([write, locked], created.token)).toBe('TOKEN_USER_INACTIVE');
  });

  it('contains the name in its details only for well-formed tokens', () => {
    expect(tokenExpired().toJson().details).toEqual([
      expect.objectContaining({ id: 'AUTH-7fs1e' }),
      expect.objectContaining({ reason: 'TOKEN_EXPIRED' }),
    ]);
    expect(tokenInvalid().toJson().details).toEqual([expect.objectContaining({ id: 'AUTH-7fs1e' })]);
  });
});

describe('the restriction of a stored token', () => {
  it.each([
    [undefined, {}],
    ['{"operations":["export","import"]}', { operations: ['export', 'import'] }],
  ])('is read from the body %s', (body, restriction) => {
    expect(parseRestriction(body)).toEqual(restriction);
  });
});

describe('the roles of a stored membership', () => {
  it('are read from its body, and are empty if the body has none', () => {
    expect(parseRoles(undefined)).toEqual([]);
    expect(parseRoles({ id: 'm' })).toEqual([]);
    expect(parseRoles({ id: 'm', body: '{"userId":"u"}' })).toEqual([]);
    expect(parseRoles({ id: 'm', body: '{"userId":"u","roles":["ORG_OWNER"]}' })).toEqual(['ORG_OWNER']);
  });
});
