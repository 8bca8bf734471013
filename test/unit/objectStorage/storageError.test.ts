import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import {
  convertedPolicy,
  storageError,
  storagePolicy,
  type Target,
} from '../../../shared/objectStorage/storageError.ts';

const target = (use: Target['use'] = 'read'): Target => ({ bucket: 'exports', path: 'north.json', use });

/** An error as the library throws it for a response, with the request whose credentials it holds. */
function responseError(status: number, message = '', source: 'ApiError' | 'GaxiosError' = 'ApiError') {
  const config = { headers: { authorization: 'Bearer ya29.secret' }, data: '-----BEGIN PRIVATE KEY-----' };
  return Object.assign(new Error(message), source === 'ApiError' ? { code: status, config } : { status, config });
}

const networkError = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

const withoutRole = (role: string) =>
  `gs://exports/north.json: grant the service account the role Storage Object ${role} on the bucket`;

describe('an error of Cloud Storage', () => {
  it.each([
    ['write', 'Creator'],
    ['read', 'Viewer'],
    ['remove', 'User'],
  ] as const)('with status 403 names the role that permits to %s', (use, role) => {
    for (const source of ['ApiError', 'GaxiosError'] as const) {
      const message = `a@local does not have storage.objects.get access to the Google Cloud Storage object.`;
      expect(storageError(responseError(403, message, source), target(use))).toMatchObject({
        code: 'PERMISSION_DENIED',
        httpStatus: 403,
        message: withoutRole(role),
      });
    }
  });

  it('with status 403 for an insufficient scope is reported as a missing role', () => {
    const reason = responseError(403, 'Request had insufficient authentication scopes.');
    expect(storageError(reason, target())).toMatchObject({ code: 'PERMISSION_DENIED', message: withoutRole('Viewer') });
  });

  it.each([
    ['a rejected key', 401, '', 'read', 'SERVICE_ACCOUNT_KEY_REJECTED', 400],
    ['a checksum mismatch', 400, "Provided CRC32C doesn't match", 'write', 'OBJECT_CORRUPTED', 503],
    ['another invalid request', 400, 'Required parameter: project', 'read', 'STORAGE_REJECTED', 400],
    ['a missing bucket that is written to', 404, 'Not Found', 'write', 'BUCKET_NOT_FOUND', 400],
    ['a missing bucket that is read', 404, 'The specified bucket does not exist.', 'read', 'BUCKET_NOT_FOUND', 400],
    ['a missing object', 404, 'No such object: exports/north.json', 'read', 'OBJECT_NOT_FOUND', 404],
    ['a missing object that is removed', 404, 'No such object: exports/north.json', 'remove', 'OBJECT_NOT_FOUND', 404],
    ['an existing object', 412, 'conditionNotMet', 'write', 'OBJECT_EXISTS', 409],
    ['a request in excess', 429, '', 'read', 'STORAGE_UNAVAILABLE', 503],
    ['a failure of the service', 503, '', 'read', 'STORAGE_UNAVAILABLE', 503],
    ['any other status', 418, '', 'read', 'STORAGE_REJECTED', 400],
  ] as const)('for %s (%i) has a documented reason', (_what, status, message, use, reason, httpStatus) => {
    const error = storageError(responseError(status, message), target(use));
    expect(error).toMatchObject({ reason, httpStatus });
  });

  it.each([
    ['the storage client', { code: 503, response: { headers: { 'retry-after': '7' } } }, 7],
    ['the HTTP client', { status: 429, response: { headers: new Headers({ 'retry-after': '8' }) } }, 8],
    ['neither', { code: 503, response: { headers: {} } }, undefined],
  ])('of %s keeps the pause that Cloud Storage asks for', (_what, parts, seconds) => {
    const reason = Object.assign(new Error('slow down'), parts);
    expect(storagePolicy.statedSeconds?.(reason)).toBe(seconds);
    expect(convertedPolicy.statedSeconds?.(storageError(reason, target()))).toBe(seconds);
  });

  it('for a failed connection is reported as an unavailable service', () => {
    expect(storageError(networkError, target())).toMatchObject({ reason: 'STORAGE_UNAVAILABLE', httpStatus: 503 });
  });

  it('that is already one of this service is unchanged', () => {
    const error = storageError(responseError(404, ''), target());
    expect(storageError(error, target('write'))).toBe(error);
  });

  it.each([400, 401, 403, 404, 412, 418, 429, 503])('with status %i keeps nothing of its request', (status) => {
    const error = storageError(responseError(status, 'a@local.iam.gserviceaccount.com'), target());
    expect(error).toBeInstanceOf(IdentityError);
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toMatch(/ya29|PRIVATE|gserviceaccount/);
  });
});
