import fc from 'fast-check';
import { someHeaders, usualCaller } from '../arbitraries/headers.ts';
import { editedJson } from '../arbitraries/jsonEdits.ts';
import type { Kind } from '../generatedRequest.ts';
import { posts } from './posts.ts';

const EXPORT = '/admin/v1/export';
const IMPORT = '/admin/v1/import';

const unsupported = { local_output: { path: '/x' }, s3_output: { path: 'a', bucket: 'b' } };

/** Sound export requests. */
const exportRequests: readonly object[] = [
  { response_output: true, org_ids: ['330000000000000001'], timeout: '30s' },
  { responseOutput: true, orgIds: ['v1-org-1', 'nowhere'], withPasswords: true, withOtp: true, withKeys: true },
  { response_output: true, excluded_org_ids: ['330000000000000001'] },
  { response_output: true, org_ids: [], timeout: '1ms' },
  { response_output: true, org_ids: ['a', 'b', 'c'], with_keys: null, ...unsupported },
];

/** Sound import requests without a file of many records. */
const importRequests: readonly object[] = [
  { data_orgs: { orgs: [] }, timeout: '30s' },
  { dataOrgs: { orgs: [{ orgId: 'request-org', org: { name: 'Request' } }] }, dryRun: true },
  { data_orgsv1: { orgs: [{ orgId: 'request-org', org: { name: 'Request' } }] }, with_keys: true },
  {
    ...{ timeout: '1m', org_ids: ['request-org'], excluded_org_ids: ['other'], dry_run: false },
    ...{ on_conflict: 'overwrite', with_keys: false, data_orgs: { orgs: [] } },
  },
  { data_orgs_local: { path: '/etc/passwd' }, data_orgs_s3: {}, data_orgsv1_local: null, data_orgsv1_s3: {} },
];

/** The fields of requests. */
export function requests(name: 'export' | 'import'): Kind {
  const [path, bases] = name === 'export' ? [EXPORT, exportRequests] : [IMPORT, importRequests];
  return { name: 'requests', weight: 4, requests: posts(path, editedJson(bases)), reaches: ['200', '400 (3)'] };
}

/** A sound request with any headers, methods and paths near its own. */
export function headers(name: 'export' | 'import'): Kind {
  const body = Buffer.from(JSON.stringify((name === 'export' ? exportRequests : importRequests)[0]));
  const generated = fc
    .tuple(
      fc.constantFrom('POST', 'POST', 'POST', 'POST', 'GET', 'PUT', 'OPTIONS', 'HEAD', 'DELETE'),
      fc.constantFrom('', '', '', '/', '?x=%ff', '/x', '%', ';a', '%00', '?'),
      usualCaller,
      someHeaders,
    )
    .map(([method, suffix, caller, more]) => ({
      method,
      target: `/admin/v1/${name}${suffix}`,
      headers: [...caller, ...more],
      body,
      plain: body,
    }));
  return { name: 'headers', weight: 3, requests: generated, reaches: ['200', '405 (12)'] };
}
