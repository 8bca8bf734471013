import { randomBytes, verify } from 'node:crypto';
import { z } from 'zod';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import { forbidden, insufficientScope, noSuchBucket, unauthenticated } from './googleError.ts';

/** The permissions that roles grant, both by Google's names. */
const roles = {
  objectCreator: ['storage.objects.create'],
  objectViewer: ['storage.objects.get'],
  objectAdmin: ['storage.objects.create', 'storage.objects.delete', 'storage.objects.get'],
} as const;

/** A permission in a bucket. */
export type Permission = (typeof roles)[keyof typeof roles][number];

/** A service account with its roles, which hold in its buckets. */
export interface Account {
  readonly clientEmail: string;
  /** SPKI in PEM. */
  readonly publicKeyPem: string;
  /** The id of the key, as its key file names it. */
  readonly keyId: string;
  readonly roles: readonly (keyof typeof roles)[];
  readonly buckets: readonly string[];
}

/** The sender of a request, and the access that the token's scope grants. */
interface Caller {
  readonly account: Account;
  readonly mayRead: boolean;
  readonly mayWrite: boolean;
}

interface TokenResponse {
  readonly status: number;
  readonly body: object;
}

interface IssuedToken {
  readonly caller: Caller;
  readonly expiresAtMs: number;
}

const LIFETIME_SECONDS = 3599;
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const AUDIENCE = 'https://storage.googleapis.com/';

/** Who may do what. Exactly the buckets that the accounts name exist. */
export class AccessControl {
  private readonly accounts: readonly Account[];
  private readonly issued = new Map<string, IssuedToken>();

  constructor(accounts: readonly Account[]) {
    this.accounts = accounts;
  }

  /**
   * Responds to a request for a token as Google's endpoint does: a JWT that an account signed for this endpoint becomes one.
   * @param origin of this server, for example `http://127.0.0.1:8082`
   */
  issueToken(form: URLSearchParams, origin: string): TokenResponse {
    const token = readSignedToken(form.get('assertion') ?? '', this.accounts);
    if (form.get('grant_type') !== GRANT_TYPE) return rejection('unsupported_grant_type', 'Invalid grant_type');
    if (token === undefined || token.aud !== `${origin}/token`)
      return rejection('invalid_grant', 'Invalid JWT Signature.');
    if (token.scope === undefined || token.scope === '') return rejection('invalid_scope', 'Empty scope.');
    const now = Date.now();
    for (const [value, { expiresAtMs }] of this.issued) if (expiresAtMs <= now) this.issued.delete(value);
    const value = `ya29.${randomBytes(32).toString('base64url')}`;
    const caller = { account: token.account, ...grantedAccess(token.scope) };
    this.issued.set(value, { caller, expiresAtMs: now + LIFETIME_SECONDS * 1_000 });
    return { status: 200, body: { access_token: value, expires_in: LIFETIME_SECONDS, token_type: 'Bearer' } };
  }

  /**
   * Authenticates an Authorization header: an access token, or a JWT that the account signed with Cloud Storage or this
   * server as its audience. It is disputed whether Cloud Storage takes a JWT with a scope instead, so none is taken here.
   * @throws GoogleError 401
   */
  authenticate(authorization: string | undefined, origin: string): Caller {
    const [, token = ''] = /^Bearer (.+)$/.exec(authorization ?? '') ?? [];
    const issued = this.issued.get(token);
    if (issued !== undefined && issued.expiresAtMs > Date.now()) return issued.caller;
    const signed = readSignedToken(token, this.accounts);
    const { aud = '', kid, scope } = signed ?? {};
    const isForThis = aud.startsWith(AUDIENCE) || aud.startsWith(`${origin}/`);
    if (signed === undefined || kid === undefined || scope !== undefined || !isForThis) throw unauthenticated();
    return { account: signed.account, mayRead: true, mayWrite: true };
  }

  /** @throws GoogleError 403 or 404 unless the caller has the permission in the bucket */
  authorise({ account, mayRead, mayWrite }: Caller, permission: Permission, bucket: string): void {
    const writes = permission === 'storage.objects.create' || permission === 'storage.objects.delete';
    if (!(writes ? mayWrite : mayRead)) throw insufficientScope();
    if (!this.accounts.some(({ buckets }) => buckets.includes(bucket))) throw noSuchBucket();
    const granted = account.roles.flatMap((role) => roles[role]);
    if (!account.buckets.includes(bucket) || !granted.includes(permission))
      throw forbidden(account.clientEmail, permission);
  }
}

function rejection(error: string, description: string): TokenResponse {
  return { status: 400, body: { error, error_description: description } };
}

const scopePrefix = 'https://www.googleapis.com/auth/';
const writeScopes = ['devstorage.read_write', 'devstorage.full_control', 'cloud-platform'];
const readScopes = [...writeScopes, 'devstorage.read_only', 'cloud-platform.read-only'];

function grantedAccess(scope: string): Pick<Caller, 'mayRead' | 'mayWrite'> {
  const scopes = scope.split(' ').filter((name) => name.startsWith(scopePrefix));
  const has = (names: readonly string[]) => scopes.some((name) => names.includes(name.slice(scopePrefix.length)));
  return { mayRead: has(readScopes), mayWrite: has(writeScopes) };
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
