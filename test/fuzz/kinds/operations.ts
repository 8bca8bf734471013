import fc from 'fast-check';
import { someHeaders, usualCaller } from '../arbitraries/headers.ts';
import { editedJson } from '../arbitraries/jsonEdits.ts';
import { keyFields } from '../arbitraries/serviceAccounts.ts';
import { type Kind, type Known, posts } from './kind.ts';

const EXPORT = '/admin/v1/export';
const IMPORT = '/admin/v1/import';

const unsupported = { local_output: { path: '/x' }, s3_output: { path: 'a', bucket: 'b' } };

/** Sound export requests. */
const exportRequests: readonly object[] = [
  { response_output: true, org_ids: ['330000000000000001'], timeout: '30s' },
  { responseOutput: true, orgIds: ['v1-org-1', 'nowhere'], withPasswords: true, withOtp: true, withKeys: true },
  { response_output: true, excluded_org_ids: ['330000000000000001'], for_zitadel: true },
  { response_output: true, org_ids: [], timeout: '1ms' },
  { response_output: true, org_ids: ['a', 'b', 'c'], with_keys: null, ...unsupported },
];

/** Sound import requests without a file of many records. */
const importRequests: readonly object[] = [
  { data_orgs: { orgs: [] }, timeout: '30s' },
  { dataOrgs: { orgs: [{ orgId: 'request-org', org: { name: 'Request' } }] }, dryRun: true },
  { data_orgsv1: { orgs: [{ orgId: 'request-org', org: { name: 'Request' } }] }, with_keys: true },
  {
    ...{ timeout: '1m', org_ids: ['request-org'], excluded_org_ids: ['other'], new_orgs_only: false, dry_run: false },
    ...{ on_conflict: 'overwrite', with_keys: false, data_orgs: { orgs: [] } },
  },
  { data_orgs_local: { path: '/etc/passwd' }, data_orgs_s3: {}, data_orgsv1_local: null, data_orgsv1_s3: {} },
];

/** The fields of requests. */
export function requests(name: 'export' | 'import'): Kind {
  const [path, bases] = name === 'export' ? [EXPORT, exportRequests] : [IMPORT, importRequests];
  return { name: 'requests', weight: 4, cases: posts(path, editedJson(bases)), reaches: ['200', '400 (3)'] };
}

/** Requests with service accounts' keys, for objects in a bucket. */
export function keys(name: 'export' | 'import', { keyFiles }: Known): Kind {
  const bucket = keyFields(keyFiles);
  const fields = name === 'export' ? ['gcs_output'] : ['data_orgs_gcs', 'dataOrgsv1Gcs'];
  const bodies = fc
    .tuple(fc.constantFrom(...fields), bucket)
    .map(([field, text]) => `{"org_ids":["330000000000000001"],"${field}":${text}}`);
  return {
    name: 'service account keys',
    weight: 1,
    cases: posts(name === 'export' ? EXPORT : IMPORT, bodies),
    reaches: ['400 (3)'],
  };
}

/** A sound request with any headers, methods and paths near its own. */
export function headers(name: 'export' | 'import'): Kind {
  const body = Buffer.from(JSON.stringify((name === 'export' ? exportRequests : importRequests)[0]));
  const cases = fc
    .tuple(
      fc.constantFrom('POST', 'POST', 'POST', 'POST', 'GET', 'PUT', 'OPTIONS', 'HEAD', 'DELETE'),
      fc.constantFrom('', '', '', '/', '?x=%ff', '/x', '%', ';a', '%00', '?'),
      usualCaller,
      someHeaders,
    )
    .map(([method, suffix, caller, more]) => ({
      way: 'kept' as const,
      request: { method, target: `/admin/v1/${name}${suffix}`, headers: [...caller, ...more], body, plain: body },
    }));
  return { name: 'headers', weight: 3, cases, reaches: ['200', '405 (12)'] };
}
