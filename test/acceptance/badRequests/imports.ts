import { type BadRequest, rows } from './badRequest.ts';

const orgs = { orgs: [{ orgId: '1', org: { name: 'Never written' } }] };
const inline = (name: string, body: object, message: RegExp) => ({ name, body: JSON.stringify(body), message });
const gcs = (changes: object) => ({
  bucket: 'identity-exports',
  path: 'x.json',
  serviceaccount_json: 'e30=',
  ...changes,
});

const wrongDuration = /^timeout: must be a positive duration of at most .*such as "30s"/;

/** Import requests that are JSON objects, and wrong. */
export const badImports: readonly BadRequest[] = rows('/admin/v1/import', [
  inline('no source', { timeout: '30s' }, /^data_orgsv1: no source: set exactly one of /),
  inline('a source that is null', { data_orgsv1: null }, /^data_orgsv1: no source: set exactly one of /),
  inline(
    'two sources',
    { data_orgsv1: orgs, data_orgs: orgs },
    /several sources, data_orgsv1 and data_orgs: set exactly one of /,
  ),
  inline(
    'a file and a bucket',
    { data_orgsv1: orgs, data_orgsv1_gcs: gcs({}) },
    /several sources, data_orgsv1 and data_orgsv1_gcs: set exactly one of /,
  ),
  inline(
    'two buckets',
    { data_orgs_gcs: gcs({}), data_orgsv1_gcs: gcs({}) },
    /several sources, data_orgs_gcs and data_orgsv1_gcs: set exactly one of /,
  ),
  inline('both spellings of a source at once', { data_orgs: orgs, dataOrgs: orgs }, /exactly one of/),
  inline('timeout "abc"', { data_orgsv1: orgs, timeout: 'abc' }, wrongDuration),
  inline('timeout "-1s"', { data_orgsv1: orgs, timeout: '-1s' }, wrongDuration),
  inline('timeout "30", without a unit', { data_orgsv1: orgs, timeout: '30' }, wrongDuration),
  inline('timeout 30, a number', { data_orgsv1: orgs, timeout: 30 }, /^timeout: .*string/),
  inline('timeout 30 after the file', { timeout: 30, data_orgsv1: orgs }, /^timeout: .*string/),
  inline('a string for a flag', { data_orgsv1: orgs, with_keys: 'yes' }, /^with_keys: .*boolean/),
  ...['data_orgs_local', 'data_orgsv1_local', 'data_orgs_s3', 'data_orgsv1_s3', 'dataOrgsLocal'].map((field) => ({
    ...inline(
      field,
      { [field]: { path: '/etc/passwd' } },
      /^data_orgs(v1)?_(local|s3) is not supported: .*data_orgsv1_gcs/,
    ),
    status: 501,
    code: 12,
  })),
  inline('data_orgsv1_gcs that is no object', { data_orgsv1_gcs: 'gs://b/p' }, /^data_orgsv1_gcs: .*object/),
  inline(
    'data_orgsv1_gcs without anything in it',
    { data_orgsv1_gcs: {} },
    /^data_orgsv1_gcs.bucket: must have 3 to 63/,
  ),
  inline('a number for the bucket', { data_orgsv1_gcs: gcs({ bucket: 1 }) }, /^data_orgsv1_gcs.bucket: .*string/),
  inline(
    'a bucket that is a path',
    { data_orgsv1_gcs: gcs({ bucket: '../other' }) },
    /^data_orgsv1_gcs.bucket: must consist of/,
  ),
  inline(
    'serviceaccount_json that is not base64',
    { data_orgsv1_gcs: gcs({ serviceaccount_json: '{}' }) },
    /^data_orgsv1_gcs.serviceaccount_json: must be base64/,
  ),
  inline(
    'serviceaccount_json that is not JSON',
    { data_orgsv1_gcs: gcs({ serviceaccount_json: 'AAAA' }) },
    /^data_orgsv1_gcs.serviceaccount_json: must be the base64 of a JSON file/,
  ),
  {
    name: 'an unknown bucket',
    body: ({ importer }) => ({
      data_orgsv1_gcs: gcs({ bucket: 'no-such-bucket-here', serviceaccount_json: importer }),
    }),
    message: /the bucket no-such-bucket-here does not exist/,
  },
]);
