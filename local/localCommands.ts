import { EXPORT_FILE } from '../functions/import/contract.ts';
import { shellWord } from '../shared/shellWord.ts';
import { samplePerson } from './localInstance.ts';

export interface Addresses {
  readonly source: { readonly url: string; readonly tokenFile: string };
  readonly target: { readonly url: string; readonly tokenFile: string };
  readonly file: string;
  readonly bucket: string;
  /** The path of the key file of the bucket's service account. */
  readonly key: string;
}

export interface LocalCommand {
  readonly name: string;
  readonly title: string;
  readonly line: string;
}

/** With `--fail-with-body`, curl exits with code 22 if the call fails, but still prints the error. */
const CURL = 'curl -sS --fail-with-body';
/**
 * Makes curl follow a redirect to the object of a large export. The commands must not contain `-X POST`, because curl
 * would then send a POST to the object instead of a GET.
 */
const FOLLOW = '-L';
const JSON_HEADER = `-H 'Content-Type: application/json'`;

/**
 * Returns the curl option that sends the token in a header. Every user of the machine can read the command line, so it
 * does not contain the token: `sed` reads the token from the file and passes it to curl through a pipe.
 */
const authorization = (tokenFile: string) => `-H @<(sed 's/^/Authorization: Bearer /' ${shellWord(tokenFile)})`;

/** Returns the commands in the order in which the user must execute them. */
export function localCommands(addresses: Addresses): readonly LocalCommand[] {
  const { source, target, bucket } = addresses;
  const file = shellWord(addresses.file);
  const call = (option: string, to: Addresses['source'], path: string) =>
    `${CURL} ${option} ${to.url}/admin/v1/${path} ${authorization(to.tokenFile)} ${JSON_HEADER}`;
  const user = (path: string, method = '') =>
    `${CURL} ${method}${target.url}/v2/users/${samplePerson}/${path} ${authorization(target.tokenFile)} -H 'Accept: application/json'`;
  const withKey = (start: string, request: string) =>
    `{ printf '${start}{"bucket":"${bucket}","path":"export.json","serviceaccount_json":"'; base64 < ${shellWord(addresses.key)} | tr -d '\\n'; printf '"}}'; } | ${request}`;
  return [
    {
      name: 'export',
      title: 'Export everything of source to a file',
      line: `${call(FOLLOW, source, 'export')} -d '{"with_passwords":true,"with_otp":true,"timeout":"30s","response_output":true}' -o ${file}`,
    },
    {
      name: 'import',
      title: 'Import the file into target',
      line: `${CURL} -X POST '${target.url}/admin/v1/import?timeout=10m' ${authorization(target.tokenFile)} -H 'Content-Type: ${EXPORT_FILE}' -T ${file}`,
    },
    {
      name: 'exportToBucket',
      title: 'Export to a bucket (once: an object is never overwritten)',
      line: withKey('{"with_passwords":true,"with_otp":true,"gcs_output":', `${call(FOLLOW, source, 'export')} -d @-`),
    },
    {
      name: 'importFromBucket',
      title: 'Import from the bucket (nothing changes: all records exist)',
      line: withKey('{"timeout":"10m","data_orgsv1_gcs":', `${call('-X POST', target, 'import')} -T -`),
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
