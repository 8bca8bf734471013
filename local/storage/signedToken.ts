import { verify } from 'node:crypto';
import { z } from 'zod';
import { parseIfJson } from '../../shared/json/parseIfJson.ts';
import type { Account } from './account.ts';

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
export interface SignedToken extends z.output<typeof claims> {
  readonly account: Account;
  /** The key's id, which may be absent, but is never that of another key. */
  readonly kid: string | undefined;
}

const clockSkewSeconds = 10;
const maxLifeSeconds = 3600;

/** Reads a JWT of an account; `undefined` if it is malformed, expired, of an unknown account, or signed with another key. */
export function readSignedToken(token: string, accounts: readonly Account[]): SignedToken | undefined {
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
