import { EXPORT_FILE } from '../../support/http/wire.ts';
import { type BadRequest, rows } from './badRequest.ts';

const file = { orgs: [{ orgId: '1', org: { name: 'Never written' } }] };
const text = JSON.stringify(file);
const headers = { 'content-type': EXPORT_FILE };
const SECRET = 'c2VjcmV0LW9mLXRoZS1jYWxsZXI';

const withQuery = (query: string, message: RegExp) =>
  rows(`/admin/v1/import?${query}`, [{ name: 'a wrong query', body: text, headers, message }]);
const withBody = (name: string, body: string | Uint8Array<ArrayBuffer>, message: RegExp) =>
  rows('/admin/v1/import?timeout=30s', [{ name, body, headers, message }]);

/** No answer may repeat a value of the query. */
const onlyInJson = (name: string) => new RegExp(`^${name}: no query may hold it(?!.*${SECRET})`);

/** Import requests whose body is the file alone, and that are wrong. */
export const badFileRequests: readonly BadRequest[] = [
  withQuery('dry_runs=true', /^dry_runs: unknown parameter, the nearest known one is dry_run$/),
  withQuery('colour=red', /^colour: unknown parameter: known are timeout, org_ids, excluded_org_ids, /),
  withQuery('=x', /^unknown parameter: /),
  withQuery('__proto__=x&constructor=x', /^__proto__: unknown parameter: /),
  withQuery('Dry_Run=true', /^Dry_Run: unknown parameter, the nearest known one is dry_run$/),
  withQuery('dry_run=true&dry_run=true', /^dry_run: given 2 times: give it once$/),
  withQuery('dry_run=true&dryRun=true', /^duplicate field "dryRun"$/),
  withQuery('org_ids=1&orgIds=1', /^duplicate field "orgIds"$/),
  withQuery('timeout=1m&timeout=2m&timeout=3m', /^timeout: given 3 times: give it once$/),
  withQuery('on_conflict=skip&on_conflict=overwrite', /^on_conflict: given 2 times/),
  ...['1', '', 'True', 'yes', 'null'].flatMap((value) =>
    withQuery(`dry_run=${value}`, /^dry_run: must be true or false$/),
  ),
  withQuery('dry_run', /^dry_run: must be true or false$/),
  withQuery('dry_run[]=true', /^dry_run\[\]: unknown parameter/),
  withQuery('ids=no', /^ids: must be true or false$/),
  withQuery('on_conflict=replace', /^on_conflict: .*report/),
  withQuery('timeout=', /^timeout: must be a positive duration/),
  withQuery('timeout=30', /^timeout: must be a positive duration/),
  withQuery('timeout=1%6', /^the query is not percent-encoded UTF-8$/),
  withQuery('org_ids=%ff', /^the query is not percent-encoded UTF-8$/),
  ...['data_orgs_gcs', 'data_orgsv1_gcs', 'dataOrgsv1Gcs', 'data_orgs', 'data_orgs_s3'].flatMap((name) =>
    withQuery(`${name}={"serviceaccount_json":"${SECRET}"}`, onlyInJson(name)),
  ),
  withQuery(`serviceaccount_json=${SECRET}`, new RegExp(`^serviceaccount_json: unknown parameter(?!.*${SECRET})`)),
  withBody('no file', '', /unexpected end of JSON input/),
  withBody('the JSON form', `{"data_orgs":${text}}`, /^orgs: missing list of organisations$/),
  withBody('a file that sets options behind its end', `${text},"on_conflict":"overwrite"}`, /after the end/),
  withBody('two files', `${text}${text}`, /after the end/),
  withBody('half a file', text.slice(0, -1), /unexpected end/),
  withBody('a list', `[${text}]`, /expected an object/),
  withBody('the text of a file as a string', JSON.stringify(text), /expected an object/),
  withBody('a byte order mark', `\ufeff${text}`, /looking for beginning of value/),
  withBody(
    'a file with an invalid record',
    '{"orgs":[{"orgId":"1","humanUsers":[{"userId":1}]}]}',
    /^orgs\[0\]\.humanUsers/,
  ),
  rows('/admin/v1/import', [
    {
      name: 'a file without its type',
      body: text,
      message: new RegExp(`^data_orgsv1: no source: .* Content-Type: ${EXPORT_FILE.replace('+', '\\+')}$`),
    },
    {
      name: 'a coding that the file does not have',
      body: text,
      headers: { ...headers, 'content-encoding': 'gzip' },
      message: /not valid gzip/,
    },
    {
      name: 'an unknown coding',
      body: text,
      headers: { ...headers, 'content-encoding': 'zstd' },
      status: 415,
      message: /zstd|gzip/,
    },
  ]),
].flat();
