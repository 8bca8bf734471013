import { type gaxios, PassThroughClient } from 'google-auth-library';
import { retry } from '../retry.ts';
import type { AccessTokens, TokenUse } from './accessTokens.ts';
import { exchangeKey } from './keyExchange.ts';
import { storagePolicy } from './storageError.ts';

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
   * @throws KeyExchangeError; the signal's reason
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
