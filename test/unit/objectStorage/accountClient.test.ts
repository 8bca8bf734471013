import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { AccessTokens } from '../../../shared/objectStorage/accountClient.ts';
import { createManualClock } from '../../support/manualClock.ts';

const use = (changes: Readonly<{ keyId?: string; privateKey?: string; scope?: string; tokenUri?: string }> = {}) => {
  const { keyId = '1', privateKey = 'the private key', scope = 'read', tokenUri = 'https://tokens' } = changes;
  return { account: { clientEmail: 'a@acme', privateKey, keyId }, scope, tokenUri };
};
const token = (value: string, expiresInSeconds = 3_600) => ({ value, expiresInSeconds });

describe('cached access tokens', () => {
  it('are found until five minutes before their expiry', async () => {
    const clock = createManualClock();
    const tokens = new AccessTokens(clock);
    tokens.keep(use(), token('ya29.1'));
    await clock.sleep(3_299_999);
    expect(tokens.find(use())?.value).toBe('ya29.1');
    await clock.sleep(1);
    expect(tokens.find(use())).toBeUndefined();
  });

  it('are not found if they expire within five minutes', () => {
    const tokens = new AccessTokens(createManualClock());
    tokens.keep(use(), token('ya29.1', 300));
    expect(tokens.find(use())).toBeUndefined();
  });

  it.each([
    ['another key', use({ privateKey: 'another key' })],
    ["another key's id", use({ keyId: '2' })],
    ['another scope', use({ scope: 'write' })],
    ['another token endpoint', use({ tokenUri: 'http://127.0.0.1:1' })],
  ])('are not found with %s', (_, other) => {
    const tokens = new AccessTokens(createManualClock());
    tokens.keep(use(), token('ya29.1'));
    expect(tokens.find(other)).toBeUndefined();
  });

  it('are a thousand at most, and the oldest is dropped', () => {
    const tokens = new AccessTokens(createManualClock());
    for (let number = 0; number <= 1_000; number++) tokens.keep(use({ scope: `${number}` }), token(`ya29.${number}`));
    expect(tokens.find(use({ scope: '0' }))).toBeUndefined();
    expect(tokens.find(use({ scope: '1' }))?.value).toBe('ya29.1');
    expect(tokens.find(use({ scope: '1000' }))?.value).toBe('ya29.1000');
  });

  it('can be dropped', () => {
    const tokens = new AccessTokens(createManualClock());
    tokens.keep(use(), token('ya29.1'));
    tokens.drop(use());
    expect(tokens.find(use())).toBeUndefined();
  });

  it('keep no private key', () => {
    const tokens = new AccessTokens(createManualClock());
    tokens.keep(use(), token('ya29.1'));
    expect(inspect(tokens, { depth: Infinity })).not.toContain('the private key');
  });
});
