import { randomBytes, verify } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { parseIfJson } from '../../shared/json/parseIfJson.ts';
import { unauthenticated } from './googleError.ts';

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

/** The roles that the stand-in supports, by Google's names. */
type Role = 'objectCreator' | 'objectViewer' | 'objectAdmin';

/** The permissions that roles grant. */
export type Permission =
  | 'storage.objects.create'
  | 'storage.objects.delete'
  | 'storage.objects.get'
  | 'storage.objects.list';

/** A service account with its roles, which hold in its buckets. */
export interface Account {
  readonly clientEmail: string;
  /** SPKI in PEM. */
  readonly publicKeyPem: string;
  /** The id of the key, as its key file names it. */
  readonly keyId: string;
  readonly roles: readonly Role[];
  readonly buckets: readonly string[];
}

const permissions: Readonly<Record<Role, readonly Permission[]>> = {
  objectCreator: ['storage.objects.create'],
  objectViewer: ['storage.objects.get', 'storage.objects.list'],
  objectAdmin: ['storage.objects.create', 'storage.objects.delete', 'storage.objects.get', 'storage.objects.list'],
};

/** Whether an account has a permission in a bucket. */
export function may(account: Account, permission: Permission, bucket: string): boolean {
  return account.buckets.includes(bucket) && account.roles.some((role) => permissions[role].includes(permission));
}

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

const header = z.object({ alg: z.literal('RS256'), kid: z.string().optional() });

const claims = z.object({
  iss: z.string(),
  sub: z.string().optional(),
  aud: z.string().optional(),
  scope: z.string().optional(),
  iat: z.number(),
  exp: z.number(),
});

/** A JWT that an account has signed, and that is valid now. */
interface SignedToken extends z.output<typeof claims> {
  readonly account: Account;
  /** The key's id, which may be absent, but is never that of another key. */
  readonly kid: string | undefined;
}

const clockSkewSeconds = 10;
const maxLifeSeconds = 3600;

/** Reads a JWT of an account; `undefined` if it is malformed, expired, of an unknown account, or signed with another key. */
function readSignedToken(token: string, accounts: readonly Account[]): SignedToken | undefined {
  const [, signed = '', head, body, signature = ''] = /^(([\w-]+)\.([\w-]+))\.([\w-]+)$/.exec(token) ?? [];
  const [parsedHeader, parsed] = [header.safeParse(json(head)), claims.safeParse(json(body))];
  if (!parsedHeader.success || !parsed.success || !isCurrent(parsed.data)) return undefined;
  const { kid } = parsedHeader.data;
  const account = accounts.find(({ clientEmail }) => clientEmail === parsed.data.iss);
  if (account === undefined || (kid !== undefined && kid !== account.keyId)) return undefined;
  const isSigned = verify('sha256', Buffer.from(signed), account.publicKeyPem, Buffer.from(signature, 'base64url'));
  return isSigned ? { ...parsed.data, account, kid } : undefined;
}

function json(base64url: string | undefined): unknown {
  return parseIfJson(Buffer.from(base64url ?? '', 'base64url').toString('utf8'));
}

function isCurrent({ iss, sub, iat, exp }: z.output<typeof claims>): boolean {
  const now = Date.now() / 1000;
  const isInTime = exp > now - clockSkewSeconds && iat < now + clockSkewSeconds && exp - iat <= maxLifeSeconds;
  return isInTime && (sub === undefined || sub === iss);
}

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Serves `POST /token` as Google's token endpoint does: a JWT that an account signed for this endpoint becomes a token. */
export async function issueToken(
  accounts: readonly Account[],
  register: AccessTokenRegister,
  origin: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const form = new URLSearchParams(await text(request));
  const token = readSignedToken(form.get('assertion') ?? '', accounts);
  if (form.get('grant_type') !== GRANT_TYPE) return reject(response, 'unsupported_grant_type', 'Invalid grant_type');
  if (token === undefined || token.aud !== `${origin}/token`)
    return reject(response, 'invalid_grant', 'Invalid JWT Signature.');
  if (token.scope === undefined || token.scope === '') return reject(response, 'invalid_scope', 'Empty scope.');
  const { value, expiresInSeconds } = register.issue(token.account, token.scope);
  send(response, 200, { access_token: value, expires_in: expiresInSeconds, token_type: 'Bearer' });
}

function reject(response: ServerResponse, error: string, description: string): void {
  send(response, 400, { error, error_description: description });
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}
