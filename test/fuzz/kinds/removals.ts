import fc from 'fast-check';
import { someHeaders, usualCaller } from '../arbitraries/headers.ts';
import { anyString } from '../arbitraries/junk.ts';
import type { Kind, Known } from '../generatedRequest.ts';

const methods = ['DELETE', 'GET', 'POST', 'PUT', 'PATCH', 'OPTIONS', 'HEAD', 'QUERY', 'PROPFIND'];
const routes = ['otp_email', 'authentication_methods', 'OTP_EMAIL', 'otp_sms', ''];

/** Any text as a part of a path: encoded correctly, too often, or not at all. */
const segment = fc.tuple(anyString, fc.constantFrom(0, 1, 1, 1, 2)).map(([text, times]) => {
  const once = encodeURIComponent(text.toWellFormed().slice(0, 1_000));
  if (times === 0) return text.replace(/[^!-~]|[?#]/g, '').slice(0, 1_000);
  return times === 1 ? once : encodeURIComponent(once);
});

const query = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  {
    weight: 1,
    arbitrary: fc
      .array(
        fc.tuple(
          fc.constantFrom('domainQuery.domain', 'domain_query.include_without_domain', 'domainQuery', '__proto__', ''),
          fc.oneof(fc.constantFrom('true', 'T', '0', 'x', '%', '%ff', 'a&=&'), segment),
        ),
        { maxLength: 4 },
      )
      .map((pairs) => `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`),
  },
);

/** Requests to the REST routes of removals and lists. */
export function removals({ userIds }: Known): Kind {
  const target = fc
    .tuple(
      fc.constantFrom('/v2', '/v2', '/v2beta', '/v1', '/V2', '//v2', '/v2/.', '/v2/x/..'),
      fc.oneof(fc.constantFrom(...userIds), segment),
      fc.constantFrom('otp_email', 'otp_email', ...routes),
      query,
    )
    .map(([version, id, route, text]) => `${version}/users/${id}/${route}${text}`);
  const requests = fc
    .tuple(
      fc.constantFrom('DELETE', 'DELETE', 'DELETE', 'GET', ...methods),
      target,
      usualCaller,
      someHeaders,
      fc.option(anyString, { freq: 6 }),
    )
    .map(([method, path, caller, headers, body]) => ({
      method,
      target: path,
      headers: [...caller, ...headers],
      ...(body === null ? {} : { body: Buffer.from(body) }),
    }));
  return { name: 'REST', weight: 3, requests, reaches: ['200', '404 (5)', '405 (12)'] };
}
