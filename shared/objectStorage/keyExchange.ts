// Exchange of a service account's key for an access token.

import { sign } from 'node:crypto';
import { PassThroughClient } from 'google-auth-library';
import { z } from 'zod';
import { raceAbort } from '../async.ts';
import type { ServiceAccount } from './objectStorage.ts';

/** Google's token endpoint. An endpoint in a key file is never used. */
export const GOOGLE_TOKEN_URI = 'https://oauth2.googleapis.com/token';

/** A token for requests with the rights of a service account. */
export interface AccessToken {
  /** Absent for an emulator that has no token endpoint, and so checks no credentials. */
  readonly value: string | undefined;
  readonly expiresInSeconds: number;
}

const ATTEMPT_MS = 10_000;
const JWT_LIFETIME_SECONDS = 3600;
const REJECTED_STATUS = 401;
const UNAVAILABLE_STATUS = 503;

const tokenResponse = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

/**
 * Exchanges a service account's key for an access token, in one attempt.
 * The library's own exchange would not do: it omits the key's id, cannot be cancelled, and is always sent to Google.
 * @throws Error with status 401 if the key is rejected; the signal's reason
 */
export async function exchangeKey(
  account: ServiceAccount,
  scope: string,
  tokenUri: string,
  signal: AbortSignal,
): Promise<AccessToken> {
  const { status, data } = await post(tokenUri, createAssertion(account, scope, tokenUri), signal);
  if (status === 404 && tokenUri !== GOOGLE_TOKEN_URI)
    return { value: undefined, expiresInSeconds: JWT_LIFETIME_SECONDS };
  if (status === 408 || status === 429 || status >= 500) throw exchangeError(`status ${status}`, { status });
  if (status !== 200) throw exchangeError(`status ${status}`, { status: REJECTED_STATUS });
  const token = tokenResponse.safeParse(data);
  if (!token.success) throw exchangeError('a response without a token', { status: UNAVAILABLE_STATUS });
  return { value: token.data.access_token, expiresInSeconds: token.data.expires_in };
}

async function post(url: string, assertion: string, signal: AbortSignal): Promise<{ status: number; data: unknown }> {
  signal.throwIfAborted();
  const grant = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion });
  const request = new PassThroughClient().request<unknown>({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: grant.toString(),
    timeout: ATTEMPT_MS,
    redirect: 'manual',
    retry: false,
    validateStatus: () => true,
  });
  try {
    // Not with the signal itself: an abort before the request is sent makes the library emit an unhandled error.
    return await raceAbort(request, signal);
  } catch {
    // The error contains the request, whose assertion is as good as a token for an hour.
    signal.throwIfAborted();
    throw exchangeError('no response', { code: 'NO_RESPONSE' });
  }
}

/**
 * Creates the error of a failed exchange, in the form of the library's own errors: with the status of a response, or with
 * the code of a failed connection. It does not contain the request, which is signed with the key.
 */
function exchangeError(problem: string, failure: { readonly status: number } | { readonly code: string }): Error {
  return Object.assign(new Error(`the token endpoint: ${problem}`), failure);
}

/** Creates the JWT that proves the possession of the key, to this token endpoint only. */
function createAssertion({ clientEmail, privateKey, keyId }: ServiceAccount, scope: string, audience: string): string {
  const issuedAt = Math.floor(Date.now() / 1000);
  const header = { alg: 'RS256', typ: 'JWT', kid: keyId };
  const claims = { iss: clientEmail, scope, aud: audience, iat: issuedAt, exp: issuedAt + JWT_LIFETIME_SECONDS };
  const encoded = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const signed = encoded.join('.');
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
}
