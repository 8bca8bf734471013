import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { DocumentKey } from '../store/store.ts';

/** By this secret scanners know a personal access token. */
const PREFIX = 'idpat_';
const TOKEN = /^idpat_([A-Za-z0-9_-]{43})([0-9a-f]{8})$/;

/**
 * A new personal access token: a prefix, 32 random bytes in base64url, and a CRC-32, so that garbage is refused without
 * a database read.
 */
export function generateToken(): string {
  const secret = randomBytes(32).toString('base64url');
  return `${PREFIX}${secret}${checksum(secret)}`;
}

/** Whether `token` has the form and the checksum of a personal access token. */
export function isWellFormed(token: string): boolean {
  const [, secret, sum] = TOKEN.exec(token) ?? [];
  return secret !== undefined && sum === checksum(secret);
}

/** The token's id, by which it is stored and revoked: half of its SHA-256, which tells nothing of the token. */
export function tokenId(token: string): string {
  return tokenDigest(token).slice(0, 32);
}

/** What is stored of a token. */
export function tokenDigest(token: string): string {
  return hash('sha256', token);
}

/** Whether `digest` is the token's, told in constant time. */
export function matchesDigest(token: string, digest: string): boolean {
  const own = Buffer.from(tokenDigest(token), 'hex');
  const stored = Buffer.from(digest, 'hex');
  return own.length === stored.length && timingSafeEqual(own, stored);
}

/** Where a token is stored. */
export function tokenKey(id: string): DocumentKey {
  return { collection: 'tokens', id };
}

function checksum(secret: string): string {
  return crc32(`${PREFIX}${secret}`).toString(16).padStart(8, '0');
}
