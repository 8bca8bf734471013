import { type BadRequest, keyFileWith, rows } from './badRequest.ts';

const inline = (name: string, body: object, message: RegExp) => ({ name, body: JSON.stringify(body), message });
const file = { bucket: 'identity-exports', path: 'x.json', serviceaccount_json: 'e30=' };

const wrongDuration = /^timeout: must be a positive duration of at most .*such as "30s"/;

/** Export requests that are JSON objects, and wrong. */
export const badExports: readonly BadRequest[] = rows('/admin/v1/export', [
  inline('neither response_output nor gcs_output', { with_passwords: true }, /response_output.*gcs_output/),
  inline('response_output false and no gcs_output', { response_output: false }, /response_output.*gcs_output/),
  inline(
    'both spellings of a field at once',
    { response_output: true, responseOutput: true },
    /duplicate field "responseOutput"/,
  ),
  inline('a string for a flag', { response_output: 'true' }, /^response_output: .*boolean/),
  inline('a number for a flag', { response_output: 1 }, /^response_output: .*boolean/),
  inline('a string for the list of ids', { response_output: true, org_ids: '1' }, /^org_ids: .*array/),
  inline('a number among the ids', { response_output: true, org_ids: ['1', 2] }, /^org_ids\[1\]: .*string/),
  inline(
    'an object for the excluded ids',
    { response_output: true, excluded_org_ids: {} },
    /^excluded_org_ids: .*array/,
  ),
  inline('timeout "abc"', { response_output: true, timeout: 'abc' }, wrongDuration),
  inline('timeout "-1s"', { response_output: true, timeout: '-1s' }, wrongDuration),
  inline('timeout "0s"', { response_output: true, timeout: '0s' }, wrongDuration),
  inline('timeout "30", without a unit', { response_output: true, timeout: '30' }, wrongDuration),
  inline('timeout 30, a number', { response_output: true, timeout: 30 }, /^timeout: .*string/),
  inline('an empty timeout', { response_output: true, timeout: '' }, wrongDuration),
  inline('a timeout of a thousand hours', { response_output: true, timeout: '1000h' }, wrongDuration),
  inline(
    'a timeout of a million digits',
    { response_output: true, timeout: `${'9'.repeat(1_000_000)}s` },
    wrongDuration,
  ),
  {
    ...inline(
      'local_output',
      { local_output: { path: '/etc/passwd' } },
      /^local_output is not supported: .*gcs_output/,
    ),
    status: 501,
    code: 12,
  },
  {
    ...inline('s3_output', { s3_output: { bucket: 'b' } }, /^s3_output is not supported: .*gcs_output/),
    status: 501,
    code: 12,
  },
  {
    ...inline(
      's3Output beside response_output',
      { s3Output: {}, response_output: true },
      /^s3_output is not supported/,
    ),
    status: 501,
    code: 12,
  },
  inline('gcs_output that is no object', { gcs_output: 'gs://b/p' }, /^gcs_output: .*object/),
  inline('gcs_output without anything in it', { gcs_output: {} }, /^gcs_output.bucket: must have 3 to 63/),
  inline('no path', { gcs_output: { ...file, path: '' } }, /^gcs_output.path: must have 1 to 1024 bytes/),
  inline('a path with a line break', { gcs_output: { ...file, path: 'a\nb' } }, /^gcs_output.path: .*line break/),
  inline('a path of two dots', { gcs_output: { ...file, path: '..' } }, /^gcs_output.path: must not be . or ../),
  inline(
    'a path of 1025 bytes',
    { gcs_output: { ...file, path: 'x'.repeat(1025) } },
    /^gcs_output.path: must have 1 to 1024 bytes/,
  ),
  inline('a lone surrogate in the path', { gcs_output: { ...file, path: '\ud800' } }, /surrogate/),
  inline(
    'a bucket that is a path',
    { gcs_output: { ...file, bucket: '../../b/other' } },
    /^gcs_output.bucket: must consist of/,
  ),
  inline(
    'a bucket that is an IP address',
    { gcs_output: { ...file, bucket: '169.254.169.254' } },
    /^gcs_output.bucket: must not be an IP address/,
  ),
  inline(
    'a bucket with a query',
    { gcs_output: { ...file, bucket: 'bucket?x=1' } },
    /^gcs_output.bucket: must consist of/,
  ),
  inline(
    'no serviceaccount_json',
    { gcs_output: { ...file, serviceaccount_json: '' } },
    /^gcs_output.serviceaccount_json: must not be empty/,
  ),
  inline(
    'serviceaccount_json that is not base64',
    { gcs_output: { ...file, serviceaccount_json: '{}' } },
    /^gcs_output.serviceaccount_json: must be base64/,
  ),
  inline(
    'serviceaccount_json that is not JSON',
    { gcs_output: { ...file, serviceaccount_json: 'AAAA' } },
    /^gcs_output.serviceaccount_json: must be the base64 of a JSON file/,
  ),
  inline('serviceaccount_json without a type', { gcs_output: file }, /^gcs_output.serviceaccount_json: .*missing type/),
  inline(
    'serviceaccount_json as an object',
    { gcs_output: { ...file, serviceaccount_json: {} } },
    /^gcs_output.serviceaccount_json: .*string/,
  ),
  ...badCredentials(),
]);

/** Credentials that would send the service elsewhere, or that are not whole. */
function badCredentials() {
  const row = (name: string, changes: object, message: RegExp) => ({
    name,
    message,
    body: ({ bucket, exporter }: { bucket: string; exporter: string }) => ({
      gcs_output: { bucket, path: 'x.json', serviceaccount_json: keyFileWith(exporter, changes) },
    }),
  });
  return [
    row(
      'a token_uri of somebody else',
      { token_uri: 'http://169.254.169.254/token' },
      /^gcs_output.serviceaccount_json: foreign token_uri/,
    ),
    row('a universe of somebody else', { universe_domain: 'example.com' }, /universe_domain/),
    row('an authorized_user', { type: 'authorized_user' }, /authorized_user: use service_account/),
    row(
      'an external_account',
      { type: 'external_account', credential_source: { file: '/etc/passwd' } },
      /external_account: use service_account/,
    ),
    row('a key file without a key', { private_key: undefined }, /missing private_key/),
    row('a key file whose key is no key', { private_key: 'secret' }, /invalid private_key/),
    row('a key file without an account', { client_email: '' }, /client_email/),
  ];
}
