import { verify } from 'node:crypto';
import { z } from 'zod';
import { unauthenticated } from './googleError.ts';

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

const header = z.object({ alg: z.literal('RS256') });
const claims = z.object({
  iss: z.string(),
  sub: z.string().optional(),
  aud: z.string().optional(),
  scope: z.string().optional(),
  iat: z.number(),
  exp: z.number(),
});

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
const clockSkewSeconds = 10;
const maxLifeSeconds = 3600;

/**
 * Authenticates an Authorization header: a JWT that the account signed, with a scope, or with Cloud Storage or this
 * server as its audience.
 * @param origin of this server, for example `http://127.0.0.1:8082`
 * @throws GoogleError 401
 */
export function authenticate(authorization: string | undefined, accounts: readonly Account[], origin: string): Caller {
  const [, signed, head, body, signature] = /^Bearer (([\w-]+)\.([\w-]+))\.([\w-]+)$/.exec(authorization ?? '') ?? [];
  const parsed = claims.safeParse(json(body));
  if (!header.safeParse(json(head)).success || !parsed.success) throw unauthenticated();
  const account = accounts.find(({ clientEmail }) => clientEmail === parsed.data.iss);
  if (account === undefined || !isCurrent(parsed.data)) throw unauthenticated();
  if (!verify('RSA-SHA256', Buffer.from(signed ?? ''), account.publicKeyPem, Buffer.from(signature ?? '', 'base64url')))
    throw unauthenticated();
  return { account, ...grantedAccess(parsed.data, origin) };
}

function json(base64url: string | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(base64url ?? '', 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

type Claims = z.infer<typeof claims>;

function isCurrent({ iss, sub, iat, exp }: Claims): boolean {
  const now = Date.now() / 1000;
  const isInTime = exp > now - clockSkewSeconds && iat < now + clockSkewSeconds && exp - iat <= maxLifeSeconds;
  return isInTime && (sub === undefined || sub === iss);
}

function grantedAccess({ scope, aud }: Claims, origin: string): Pick<Caller, 'mayRead' | 'mayWrite'> {
  if (aud !== undefined && (aud.startsWith(audience) || aud.startsWith(`${origin}/`)))
    return { mayRead: true, mayWrite: true };
  const scopes = (scope ?? '').split(' ').filter((name) => name.startsWith(scopePrefix));
  if (scopes.length === 0) throw unauthenticated();
  const has = (names: readonly string[]) => scopes.some((name) => names.includes(name.slice(scopePrefix.length)));
  return { mayRead: has(readScopes), mayWrite: has(writeScopes) };
}
