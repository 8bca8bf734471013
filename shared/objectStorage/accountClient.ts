// The authentication client of a service account.

import { hash } from 'node:crypto';
import { type gaxios, PassThroughClient } from 'google-auth-library';
import { type Clock, systemClock } from '../clock.ts';
import { retry } from '../retry.ts';
import { type AccessToken, exchangeKey } from './keyExchange.ts';
import type { ServiceAccount } from './objectStorage.ts';
import { storagePolicy } from './storageError.ts';

/** The number of tokens that a process keeps; the oldest make room. */
const MAX_TOKENS = 1_000;

/** A token is replaced this long before its expiry, so that it is still valid when the request arrives. */
const MARGIN_SECONDS = 300;

/** The purpose of a token. */
interface TokenUse {
  readonly account: ServiceAccount;
  readonly scope: string;
  readonly tokenUri: string;
}

/** Access tokens that are still valid, in memory only. A caller finds one only with the whole key that it belongs to. */
export class AccessTokens {
  private readonly tokens = new Map<string, Pick<AccessToken, 'value'> & { readonly expiresAtMs: number }>();
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

  drop(use: TokenUse): void {
    this.tokens.delete(useDigest(use));
  }
}

/** A digest, so that no private key stays in memory longer than its request. */
function useDigest({ account, scope, tokenUri }: TokenUse): string {
  const { clientEmail, privateKey, keyId = '' } = account;
  return hash('sha256', JSON.stringify([clientEmail, privateKey, keyId, scope, tokenUri]));
}

/** A client that sends each request with a valid access token of a service account. */
export class AccountClient extends PassThroughClient {
  private readonly tokens: AccessTokens;
  private readonly use: TokenUse;

  constructor(tokens: AccessTokens, use: TokenUse) {
    super();
    this.tokens = tokens;
    this.use = use;
  }

  /** Whether the next request has a token without an exchange. */
  get hasToken(): boolean {
    return this.tokens.find(this.use) !== undefined;
  }

  /** Forgets the token, so that the next request has a new one. */
  dropToken(): void {
    this.tokens.drop(this.use);
  }

  /**
   * Ensures a valid token, with retries.
   * @throws the error of a failed exchange; the signal's reason
   */
  async prepare(signal: AbortSignal): Promise<void> {
    await retry(storagePolicy, () => this.token(signal), signal);
  }

  override async getRequestHeaders(): Promise<Headers> {
    return this.headers(undefined);
  }

  override async request<Data>(options: gaxios.GaxiosOptions): Promise<gaxios.GaxiosResponse<Data>> {
    const headers = new Headers(options.headers);
    for (const [name, value] of await this.headers(options.signal ?? undefined)) headers.set(name, value);
    options.signal?.throwIfAborted();
    return super.request<Data>({ ...options, headers });
  }

  private async headers(signal: AbortSignal | undefined): Promise<Headers> {
    const value = await this.token(signal ?? new AbortController().signal);
    return new Headers(value === undefined ? {} : { authorization: `Bearer ${value}` });
  }

  private async token(signal: AbortSignal): Promise<string | undefined> {
    const { account, scope, tokenUri } = this.use;
    const kept = this.tokens.find(this.use);
    if (kept !== undefined) return kept.value;
    const token = await exchangeKey(account, scope, tokenUri, signal);
    this.tokens.keep(this.use, token);
    return token.value;
  }
}
