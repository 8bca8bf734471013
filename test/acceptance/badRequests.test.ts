import { expect, it } from 'vitest';
import { EXPORT_FILE, expectError, exportFrom, send } from '../support/http/wire.ts';
import { type BucketAccess, describeDeployment, noBucket } from '../support/instances/deployments.ts';

/** A request that must be rejected with this status, code and text, and without any effect. */
interface BadRequest {
  /** The reason for the rejection, as the end of the test's name. */
  readonly name: string;
  readonly path: string;
  /** The body, or a function that derives it from a usable bucket. */
  readonly body: string | ((bucket: BucketAccess) => unknown);
  readonly headers?: Readonly<Record<string, string>>;
  readonly message: RegExp;
}

const EXPORT = '/admin/v1/export';
const IMPORT = '/admin/v1/import';
const SECRET = 'c2VjcmV0LW9mLXRoZS1jYWxsZXI';
const file = { orgs: [{ orgId: 'never-written', org: { name: 'Never written' } }] };
const text = JSON.stringify(file);
const gcs = (changes: object) => ({
  bucket: 'identity-exports',
  path: 'x.json',
  serviceaccount_json: 'e30=',
  ...changes,
});
const inJson = (path: string, name: string, body: object, message: RegExp): BadRequest => ({
  name,
  path,
  body: JSON.stringify(body),
  message,
});

const onlyInBody = (field: string) =>
  new RegExp(`^${field}: has no effect in the query of a request whose body is JSON: move it into the body`);

/** Requests that are JSON objects: a row for each rule that joins several fields. The fields have unit tests. */
const ofJson: readonly BadRequest[] = [
  inJson(EXPORT, 'response_output false and no gcs_output', { response_output: false }, /response_output.*gcs_output/),
  inJson(
    EXPORT,
    'a timeout of a million digits',
    { response_output: true, timeout: `${'9'.repeat(1_000_000)}s` },
    /^timeout: must be a positive duration of at most .*such as "30s"/,
  ),
  inJson(EXPORT, 'a bucket that is a path', { gcs_output: gcs({ bucket: '../b' }) }, /^gcs_output.bucket: must /),
  inJson(`${IMPORT}?dry_run=true`, 'an option in the query', { data_orgs: file }, onlyInBody('dry_run')),
  inJson(`${IMPORT}?colour=%ff&dryRun`, 'an option in the query', { data_orgs: file }, onlyInBody('dryRun')),
  inJson(IMPORT, 'a source that is null', { data_orgsv1: null }, /^data_orgsv1: no source: set exactly one of /),
  inJson(
    IMPORT,
    'a file and a bucket',
    { data_orgsv1: file, data_orgsv1_gcs: gcs({}) },
    /several sources, data_orgsv1 and data_orgsv1_gcs: set exactly one of /,
  ),
  inJson(
    IMPORT,
    'two buckets',
    { data_orgs_gcs: gcs({}), data_orgsv1_gcs: gcs({}) },
    /several sources, data_orgs_gcs and data_orgsv1_gcs: set exactly one of /,
  ),
  inJson(
    IMPORT,
    'a text that is no file',
    { data_orgs: 'upstream connect error' },
    /^data_orgs: the value is text, not an export file: /,
  ),
  inJson(
    IMPORT,
    'an export of another product',
    { dataOrgsv1: { realm: 'my', users: [] } },
    /^data_orgsv1: the value is an export of another product, not an export file: convert the file to an object .*, as docs\/other-products\.md shows/,
  ),
  inJson(IMPORT, 'a timeout after the file', { data_orgsv1: file, timeout: 30 }, /^timeout: expected text/),
  inJson(IMPORT, 'an empty gcs object', { data_orgsv1_gcs: {} }, /^data_orgsv1_gcs.bucket: must have 3 to 63/),
  {
    name: 'an unknown bucket',
    path: IMPORT,
    body: ({ importer }) => ({ data_orgsv1_gcs: gcs({ bucket: 'no-such-bucket', serviceaccount_json: importer }) }),
    message: /the bucket no-such-bucket does not exist/,
  },
  {
    name: "another server's token_uri",
    path: EXPORT,
    body: ({ exporter }) => ({
      gcs_output: gcs({ serviceaccount_json: keyFileWith(exporter, { token_uri: 'http://169.254.169.254/token' }) }),
    }),
    message: /^gcs_output.serviceaccount_json: unknown token_uri/,
  },
];

const withQuery = (query: string, message: RegExp): BadRequest => ({
  name: 'a wrong query',
  path: `${IMPORT}?${query}`,
  body: text,
  headers: { 'content-type': EXPORT_FILE },
  message,
});
const withBody = (name: string, body: string, message: RegExp): BadRequest => ({
  name,
  path: `${IMPORT}?timeout=30s`,
  body,
  headers: { 'content-type': EXPORT_FILE },
  message,
});
/** No error may repeat a value of the query. */
const onlyInJson = (name: string) =>
  new RegExp(`^${name}: not allowed in a query, because logs contain queries(?!.*${SECRET})`);

/** Imports whose body is the file. */
const ofFile: readonly BadRequest[] = [
  withQuery('dry_runs=true', /^dry_runs: unknown parameter, the nearest known one is dry_run$/),
  withQuery('colour=red', /^colour: unknown parameter: known are timeout, org_ids, excluded_org_ids, /),
  withQuery('=x', /^unknown parameter: /),
  withQuery('__proto__=x&constructor=x', /^__proto__: unknown parameter: /),
  withQuery('dry_run=true&dry_run=true', /^dry_run: repeated 2 times: specify it once$/),
  withQuery('dry_run=true&dryRun=true', /^duplicate field "dryRun"$/),
  withQuery('org_ids=1&orgIds=1', /^duplicate field "orgIds"$/),
  ...['1', '', 'True', 'null'].map((value) => withQuery(`dry_run=${value}`, /^dry_run: must be true or false$/)),
  withQuery('dry_run', /^dry_run: must be true or false$/),
  withQuery('dry_run[]=true', /^dry_run\[\]: unknown parameter/),
  withQuery('on_conflict=replace', /^on_conflict: .*report/),
  withQuery('timeout=30', /^timeout: must be a positive duration/),
  withQuery('org_ids=%ff', /^the query is not percent-encoded UTF-8$/),
  ...['data_orgs_gcs', 'dataOrgsv1Gcs', 'data_orgs'].map((name) =>
    withQuery(`${name}={"serviceaccount_json":"${SECRET}"}`, onlyInJson(name)),
  ),
  withQuery(`serviceaccount_json=${SECRET}`, new RegExp(`^serviceaccount_json: unknown parameter(?!.*${SECRET})`)),
  withBody('no file', '', /the file is empty/),
  withBody(
    'the JSON form with an option',
    `{"data_orgs":${text},"on_conflict":"overwrite"}`,
    /^on_conflict: the file is an import request with an option other than timeout/,
  ),
  withBody('a page', '<!doctype html><title>Sign in</title>', /^the file is an HTML page, not an export file: /),
  withBody(
    'no list',
    '{"status":"ok"}',
    /^orgs: missing list of organisations: expected \{"orgs":\[…\]\}; the file begins with status$/,
  ),
  withBody('options behind the end of the file', `${text},"on_conflict":"overwrite"}`, /after the end/),
  withBody('two files', `${text}${text}`, /after the end/),
  withBody('the text of a file as a string', JSON.stringify(text), /encoded twice/),
  {
    name: 'a file without its type',
    path: IMPORT,
    body: text,
    message: new RegExp(`^data_orgsv1: no source: .* Content-Type: ${EXPORT_FILE.replace('+', '\\+')}$`),
  },
];

describeDeployment('bad requests', (get) => {
  it.for([...ofJson, ...ofFile])('are rejected at $path with $name, and nothing is written', async (row, { skip }) => {
    const { target, bucket } = get();
    if (bucket === undefined && typeof row.body === 'function') skip(noBucket);
    const headers = { 'content-type': 'application/json', ...row.headers };
    const request = { method: 'POST', path: row.path, token: target.token, body: bodyOf(row, bucket), headers };
    const { message } = expectError(await send(target, request), 400, 3);
    expect(message).toMatch(row.message);
    expect(message.length).toBeLessThan(500);
    const { orgs } = await exportFrom(target);
    expect(orgs.map(({ orgId }) => orgId)).not.toContain('never-written');
  });
});

function bodyOf({ body }: BadRequest, bucket: BucketAccess | undefined): string {
  if (typeof body !== 'function') return body;
  if (bucket === undefined) throw new Error(noBucket);
  return JSON.stringify(body(bucket));
}

/** Returns the base64 of a key file with other fields. */
function keyFileWith(keyFile: string, changes: object): string {
  const fields: unknown = JSON.parse(Buffer.from(keyFile, 'base64').toString());
  return Buffer.from(JSON.stringify(Object.assign({}, fields, changes))).toString('base64');
}
