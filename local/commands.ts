import { samplePerson } from './sampleData.ts';

/** What the commands are made of. */
export interface Addresses {
  readonly source: { readonly url: string; readonly tokenFile: string };
  readonly target: { readonly url: string; readonly tokenFile: string };
  readonly bucket: string;
  /** Key file of the account that may create objects, and of the one that may read them. */
  readonly exporter: string;
  readonly importer: string;
}

/** A command that can be pasted into a shell, under the sentence that says what it does. */
export interface LocalCommand {
  readonly name: string;
  readonly title: string;
  readonly line: string;
}

const JSON_HEADER = `-H 'Content-Type: application/json'`;

/** The three operations as commands against the local instances, in an order in which they work. */
export function localCommands({ source, target, bucket, exporter, importer }: Addresses): readonly LocalCommand[] {
  const post = (to: Addresses['source'], path: string) =>
    `curl -sS -X POST ${to.url}/admin/v1/${path} -H "Authorization: Bearer $(cat ${quoted(to.tokenFile)})" ${JSON_HEADER}`;
  const key = (file: string) => `'"$(base64 < ${quoted(file)} | tr -d '\\n')"'`;
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
      title: 'Import from the bucket (nothing changes: it is all there)',
      line: `${post(target, 'import')} -d '{"timeout":"10m","data_orgsv1_gcs":${inBucket(importer)}}'`,
    },
    {
      name: 'removeOtpEmail',
      title: 'Remove the OTP e-mail factor of a person of target (a second time: 404)',
      line: `curl -sS -X DELETE ${target.url}/v2/users/${samplePerson}/otp_email -H "Authorization: Bearer $(cat ${quoted(target.tokenFile)})" -H 'Accept: application/json'`,
    },
  ];
}

/** A path as one word of a shell command. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
