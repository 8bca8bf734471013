import { samplePerson } from './sampleData.ts';

/** The addresses and files that the commands contain. */
export interface Addresses {
  readonly source: { readonly url: string; readonly tokenFile: string };
  readonly target: { readonly url: string; readonly tokenFile: string };
  readonly bucket: string;
  /** The key file of the account that may create objects. */
  readonly exporter: string;
  /** The key file of the account that may read objects. */
  readonly importer: string;
}

/** A command to paste into a shell, with a title that describes it. */
export interface LocalCommand {
  readonly name: string;
  readonly title: string;
  readonly line: string;
}

const JSON_HEADER = `-H 'Content-Type: application/json'`;

/** Returns the operations as commands against the local instances, in an order that works. */
export function localCommands({ source, target, bucket, exporter, importer }: Addresses): readonly LocalCommand[] {
  const post = (to: Addresses['source'], path: string) =>
    `curl -sS -X POST ${to.url}/admin/v1/${path} -H "Authorization: Bearer $(cat ${quote(to.tokenFile)})" ${JSON_HEADER}`;
  const user = (path: string, method = '') =>
    `curl -sS ${method}${target.url}/v2/users/${samplePerson}/${path} -H "Authorization: Bearer $(cat ${quote(target.tokenFile)})" -H 'Accept: application/json'`;
  const key = (file: string) => `'"$(base64 < ${quote(file)} | tr -d '\\n')"'`;
  const inBucket = (file: string) => `{"bucket":"${bucket}","path":"export.json","serviceaccount_json":"${key(file)}"}`;
  return [
    {
      name: 'export',
      title: 'Export everything of source to a file',
      line: `${post(source, 'export')} -d '{"with_passwords":true,"with_otp":true,"timeout":"30s","response_output":true}' -o export.json`,
    },
    {
      name: 'import',
      title: 'Import the file into target',
      line: `{ printf '{"timeout":"10m","data_orgsv1":'; cat export.json; printf '}'; } | ${post(target, 'import')} --data-binary @-`,
    },
    {
      name: 'exportToBucket',
      title: 'Export to a bucket (once: an object is never overwritten)',
      line: `${post(source, 'export')} -d '{"with_passwords":true,"with_otp":true,"gcs_output":${inBucket(exporter)}}'`,
    },
    {
      name: 'importFromBucket',
      title: 'Import from the bucket (nothing changes: all records exist)',
      line: `${post(target, 'import')} -d '{"timeout":"10m","data_orgsv1_gcs":${inBucket(importer)}}'`,
    },
    {
      name: 'listAuthenticationMethods',
      title: 'List the authentication methods of a person of target, before and after the next command',
      line: user('authentication_methods'),
    },
    {
      name: 'removeOtpEmail',
      title: 'Remove the OTP e-mail factor of a person of target (a second time: 404)',
      line: user('otp_email', '-X DELETE '),
    },
  ];
}

/** Quotes a path as one word of a shell command. */
function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
