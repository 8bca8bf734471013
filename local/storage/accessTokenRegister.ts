import { randomBytes } from 'node:crypto';
import type { Account } from './account.ts';

const LIFETIME_SECONDS = 3599;

interface IssuedToken {
  readonly account: Account;
  readonly scope: string;
  readonly expiresAtMs: number;
}

/** The access tokens that this process has issued. */
export class AccessTokenRegister {
  private readonly tokens = new Map<string, IssuedToken>();

  issue(account: Account, scope: string): { readonly value: string; readonly expiresInSeconds: number } {
    const now = Date.now();
    for (const [value, { expiresAtMs }] of this.tokens) if (expiresAtMs <= now) this.tokens.delete(value);
    const value = `ya29.${randomBytes(32).toString('base64url')}`;
    this.tokens.set(value, { account, scope, expiresAtMs: now + LIFETIME_SECONDS * 1_000 });
    return { value, expiresInSeconds: LIFETIME_SECONDS };
  }

  find(value: string): Pick<IssuedToken, 'account' | 'scope'> | undefined {
    const token = this.tokens.get(value);
    return token !== undefined && token.expiresAtMs > Date.now() ? token : undefined;
  }
}
