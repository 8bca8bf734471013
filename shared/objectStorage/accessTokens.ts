import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import type { AccessToken } from './keyExchange.ts';
import type { ServiceAccount } from './objectStorage.ts';

/** The number of tokens that a process keeps; the oldest make room. */
const MAX_TOKENS = 1_000;

/** A token is replaced this long before its expiry, so that it is still valid when the request arrives. */
const MARGIN_SECONDS = 300;

interface KeptToken {
  readonly value: AccessToken['value'];
  readonly expiresAtMs: number;
}

/** What a token is for. */
export interface TokenUse {
  readonly account: ServiceAccount;
  readonly scope: string;
  readonly tokenUri: string;
}

/** Access tokens that are still valid, in memory only. A caller finds one only with the whole key that it belongs to. */
export class AccessTokens {
  private readonly tokens = new Map<string, KeptToken>();
  private readonly clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.clock = clock;
  }

  /** Returns the valid token for this use, if there is one. */
  find(use: TokenUse): Pick<AccessToken, 'value'> | undefined {
    const id = useDigest(use);
    const token = this.tokens.get(id);
    if (token === undefined || token.expiresAtMs > this.clock.now()) return token;
    this.tokens.delete(id);
    return undefined;
  }

  /** Keeps a token until shortly before its expiry. */
  keep(use: TokenUse, { value, expiresInSeconds }: AccessToken): void {
    const [oldest] = this.tokens.size < MAX_TOKENS ? [] : this.tokens.keys();
    if (oldest !== undefined) this.tokens.delete(oldest);
    const expiresAtMs = this.clock.now() + (expiresInSeconds - MARGIN_SECONDS) * 1_000;
    this.tokens.set(useDigest(use), { value, expiresAtMs });
  }

  /** Forgets the token for this use. */
  drop(use: TokenUse): void {
    this.tokens.delete(useDigest(use));
  }
}

/** A digest, so that no private key stays in memory longer than its request. */
function useDigest({ account, scope, tokenUri }: TokenUse): string {
  const { clientEmail, privateKey, keyId = '' } = account;
  return createHash('sha256')
    .update(JSON.stringify([clientEmail, privateKey, keyId, scope, tokenUri]))
    .digest('hex');
}
