import { randomBytes, verify } from 'node:crypto';
import { z } from 'zod';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import { GOOGLE_TOKEN_URI } from '../../shared/objectStorage/accountClient.ts';
import { insufficientScopes, unauthenticated } from './googleError.ts';

export interface Account {
  readonly clientEmail: string;
  /** The public key: SPKI in PEM. */
  readonly publicKeyPem: string;
  /** The private key: PKCS #8 in PEM. */
  readonly privateKeyPem: string;
}

interface TokenResponse {
  readonly status: number;
  readonly body: object;
}

const TOKEN_LIFETIME_SECONDS = 3599;

const claims = z.object({ iss: z.string(), aud: z.string(), scope: z.string() });

/**
 * For each use of the service account, matches the scopes that permit the use. A token must have at least one of them.
 */
const scopes = {
  read: /\/auth\/(devstorage\.\w+|cloud-platform)(?![\w.-])/,
  write: /\/auth\/(devstorage\.(read_write|full_control)|cloud-platform)(?![\w.-])/,
  sign: /\/auth\/(iam|cloud-platform)(?![\w.-])/,
};

/**
 * Issues and checks tokens of a service account with all permissions. The stand-in for Cloud Storage has only this
 * account.
 */
export class Access {
  private readonly account: Account;
  private readonly tokens = new Map<string, string>();

  constructor(account: Account) {
    this.account = account;
  }

  /**
   * Issues a token for a signed JWT, as Google's token endpoint does. The JWT must have the account's signature, and
   * the token endpoint as its audience.
   */
  issueToken(form: URLSearchParams): TokenResponse {
    const scope = this.signedScope(form.get('assertion') ?? '');
    if (scope === undefined)
      return { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } };
    return { status: 200, body: this.newToken(scope) };
  }

  /** Issues a token without requiring a JWT, as Google's metadata server does. */
  newToken(scope: string): object {
    const token = `ya29.${randomBytes(32).toString('base64url')}`;
    this.tokens.set(token, scope);
    return { access_token: token, expires_in: TOKEN_LIFETIME_SECONDS, token_type: 'Bearer' };
  }

  /**
   * @throws GoogleError 401 unless the Authorization header contains an issued token; 403 if the token's scopes do not
   * permit the use
   */
  authenticate(authorization: string | undefined, use: keyof typeof scopes): void {
    const scope = this.tokens.get(authorization?.replace(/^Bearer /, '') ?? '');
    if (scope === undefined) throw unauthenticated();
    if (!scopes[use].test(scope)) throw insufficientScopes();
  }

  private signedScope(jwt: string): string | undefined {
    const [, signed = '', body = '', signature = ''] = /^([\w-]+\.([\w-]+))\.([\w-]+)$/.exec(jwt) ?? [];
    const { data } = claims.safeParse(parseIfJson(Buffer.from(body, 'base64url').toString('utf8')));
    const { clientEmail, publicKeyPem } = this.account;
    if (data?.iss !== clientEmail || data.aud !== GOOGLE_TOKEN_URI) return undefined;
    const isSigned = verify('sha256', Buffer.from(signed), publicKeyPem, Buffer.from(signature, 'base64url'));
    return isSigned ? data.scope : undefined;
  }
}
