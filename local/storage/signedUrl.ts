// Verifies signed URLs (V4). This verification follows Google's description and not the library that signs the URLs, so
// that it fails if the library signs wrongly: https://cloud.google.com/storage/docs/authentication/canonical-requests
// and …/signatures

import { createHash, verify } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Account } from './access.ts';
import { expiredUrl, signatureMismatch } from './googleError.ts';

const ALGORITHM = 'GOOG4-RSA-SHA256';

const WEEK_SECONDS = 604_800;

export const isSigned = (request: IncomingMessage): boolean => /[?&]x-goog-signature=/i.test(request.url ?? '');

/**
 * Requires that the account has signed the request's method, URL and signed headers, and that the URL has not expired.
 * @throws GoogleError 403 for a wrong signature, 400 for an expired URL
 */
export function verifySignedUrl(request: IncomingMessage, account: Account, now: Date): void {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://storage');
  const parameter = (name: string) => searchParams.get(name) ?? '';
  const signedAt = parseDate(parameter('X-Goog-Date'));
  const seconds = Number(parameter('X-Goog-Expires'));
  const scope = `${parameter('X-Goog-Date').slice(0, 8)}/auto/storage/goog4_request`;
  const isSignature =
    parameter('X-Goog-Algorithm') === ALGORITHM &&
    parameter('X-Goog-Credential') === `${account.clientEmail}/${scope}` &&
    parameter('X-Goog-SignedHeaders').split(';').includes('host') &&
    seconds > 0 &&
    seconds <= WEEK_SECONDS &&
    verify(
      'sha256',
      Buffer.from([ALGORITHM, parameter('X-Goog-Date'), scope, digest(request, pathname, searchParams)].join('\n')),
      account.publicKeyPem,
      Buffer.from(parameter('X-Goog-Signature'), 'hex'),
    );
  if (!isSignature) throw signatureMismatch();
  if (now.getTime() < signedAt || now.getTime() >= signedAt + seconds * 1_000) throw expiredUrl();
}

/**
 * Parses a date such as `20261129T120000Z`. The result for another text does not matter, because no URL with a valid
 * signature contains such a text.
 */
function parseDate(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function digest(request: IncomingMessage, path: string, parameters: URLSearchParams): string {
  const names = (parameters.get('X-Goog-SignedHeaders') ?? '').split(';');
  const query = [...parameters]
    .filter(([name]) => name !== 'X-Goog-Signature')
    .map((pair) => pair.map(encode).join('='))
    .sort()
    .join('&');
  const headers = names.map((name) => `${name}:${header(request, name)}\n`).join('');
  const canonical = [request.method, path, query, headers, names.join(';'), 'UNSIGNED-PAYLOAD'].join('\n');
  return createHash('sha256').update(canonical).digest('hex');
}

/**
 * Returns a header's value as the client signed it. In the header `host`, the signed value has no port, because
 * Google's URLs have none.
 */
function header(request: IncomingMessage, name: string): string {
  const value = String(request.headers[name] ?? '').trim();
  return name === 'host' ? value.replace(/:\d+$/, '') : value;
}

/** Percent-encodes everything except the unreserved characters of RFC 3986. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
