// Tokens and access of the stand-in's service account.

import { randomBytes, verify } from 'node:crypto';
import { z } from 'zod';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import { unauthenticated } from './googleError.ts';

/** The service account of a stand-in. */
export interface Account {
  readonly clientEmail: string;
  /** SPKI in PEM. */
  readonly publicKeyPem: string;
  /** PKCS #8 in PEM. */
  readonly privateKeyPem: string;
}

interface TokenResponse {
  readonly status: number;
  readonly body: object;
}

const TOKEN_LIFETIME_SECONDS = 3599;

const claims = z.object({ iss: z.string(), aud: z.string() });

/** The access of one account, which may do everything. */
export class Access {
  private readonly account: Account;
  private readonly token = `ya29.${randomBytes(32).toString('base64url')}`;

  constructor(account: Account) {
    this.account = account;
  }

  /**
   * Responds to a request for a token as Google's endpoint does: it accepts a JWT that the account has signed for it.
   * @param tokenUri the endpoint's own address
   */
  issueToken(form: URLSearchParams, tokenUri: string): TokenResponse {
    if (!this.hasSigned(form.get('assertion') ?? '', tokenUri))
      return { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } };
    return { status: 200, body: this.newToken() };
  }

  /** Issues a token without a JWT, as Google's metadata server does. */
  newToken(): object {
    return { access_token: this.token, expires_in: TOKEN_LIFETIME_SECONDS, token_type: 'Bearer' };
  }

  /** @throws GoogleError 401 unless an Authorization header has the issued token */
  authenticate(authorization: string | undefined): void {
    if (authorization !== `Bearer ${this.token}`) throw unauthenticated();
  }

  private hasSigned(jwt: string, audience: string): boolean {
    const [, signed = '', body = '', signature = ''] = /^([\w-]+\.([\w-]+))\.([\w-]+)$/.exec(jwt) ?? [];
    const { data } = claims.safeParse(parseIfJson(Buffer.from(body, 'base64url').toString('utf8')));
    const { clientEmail, publicKeyPem } = this.account;
    if (data?.iss !== clientEmail || data.aud !== audience) return false;
    return verify('sha256', Buffer.from(signed), publicKeyPem, Buffer.from(signature, 'base64url'));
  }
}
