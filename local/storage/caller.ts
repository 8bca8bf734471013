import type { AccessTokenRegister } from './accessTokenRegister.ts';
import type { Account } from './account.ts';
import { unauthenticated } from './googleError.ts';
import { readSignedToken } from './signedToken.ts';

/** The sender of a request, and the access that the token's scope grants. */
export interface Caller {
  readonly account: Account;
  readonly mayRead: boolean;
  readonly mayWrite: boolean;
}

const scopePrefix = 'https://www.googleapis.com/auth/';
const writeScopes = ['devstorage.read_write', 'devstorage.full_control', 'cloud-platform'];
const readScopes = [...writeScopes, 'devstorage.read_only', 'cloud-platform.read-only'];
const audience = 'https://storage.googleapis.com/';

/**
 * Authenticates an Authorization header: an access token, or a JWT that the account signed with Cloud Storage or this
 * server as its audience. It is disputed whether Cloud Storage takes a JWT with a scope instead, so none is taken here.
 * @param origin of this server, for example `http://127.0.0.1:8082`
 * @throws GoogleError 401
 */
export function authenticate(
  authorization: string | undefined,
  accounts: readonly Account[],
  register: AccessTokenRegister,
  origin: string,
): Caller {
  const [, token = ''] = /^Bearer (.+)$/.exec(authorization ?? '') ?? [];
  const issued = register.find(token);
  if (issued !== undefined) return { account: issued.account, ...grantedAccess(issued.scope) };
  const signed = readSignedToken(token, accounts);
  const { aud = '', kid, scope } = signed ?? {};
  const isForThis = aud.startsWith(audience) || aud.startsWith(`${origin}/`);
  if (signed === undefined || kid === undefined || scope !== undefined || !isForThis) throw unauthenticated();
  return { account: signed.account, mayRead: true, mayWrite: true };
}

function grantedAccess(scope: string): Pick<Caller, 'mayRead' | 'mayWrite'> {
  const scopes = scope.split(' ').filter((name) => name.startsWith(scopePrefix));
  const has = (names: readonly string[]) => scopes.some((name) => names.includes(name.slice(scopePrefix.length)));
  return { mayRead: has(readScopes), mayWrite: has(writeScopes) };
}
