import { answers, type Judgement, type Judgements, refuses, same } from './judgement.ts';

const noSource = (why: string) => refuses(why, 400, 3, /no source: set exactly one of /);
const oneSource = 'Specification 4.3 wants exactly one source; ZITADEL answers 200 and fails in the background.';
const noOutput = refuses(
  'An export that is written nowhere is refused; ZITADEL knows one output only and returns it unasked.',
  400,
  3,
  /^response_output: /,
);
const badTimeout = (why: string): Judgement => refuses(why, 400, 3, /^timeout: must be a positive duration/);
const callersFault = 'A timeout that is no positive duration is the caller’s fault: 400 instead of 500.';
const notServed = (message: RegExp): Judgement =>
  refuses('This source is not offered: 501 names the ones that are, where ZITADEL fails unseen.', 501, 12, message);

/** Sources, outputs, timeouts and sizes. */
export const requests: Judgements = {
  'import: empty body': refuses(
    'An empty body names no source, whatever its timeout: 400 instead of 500.',
    400,
    3,
    /unexpected end of JSON input/,
  ),
  'import: {}': noSource('A request that names no source is the caller’s fault: 400 instead of 500.'),
  'export: empty body (restricted by nothing)': refuses(
    'An empty body names no output, so that nobody gets a whole instance by mistake.',
    400,
    3,
    /must be a JSON object/,
  ),
  'import: neither source, timeout 1s': noSource(oneSource),
  'import: timeout "abc"': badTimeout(callersFault),
  'import: timeout "-1s"': badTimeout(callersFault),
  'import: timeout "0s"': badTimeout(callersFault),
  'import: timeout "30" (no unit)': badTimeout(callersFault),
  'import: timeout missing, dataOrgs given': answers(
    'A missing timeout means the longest that the deployment allows; ZITADEL has no default and answers 500.',
    200,
    { kind: 'equals', json: { success: {} } },
  ),
  'import: empty orgs list': same,
  'import: dataOrgs {}': same,
  'import: dataOrgsGcs bad bucket': refuses(
    'A bucket is read within the call, so its faults are answered; ZITADEL answers 200 and fails in the background.',
    400,
    3,
    /^data_orgs_gcs.serviceaccount_json: /,
  ),
  'import: gcs_input (unknown name)': noSource(oneSource),
  'import: dataOrgsS3 bad': notServed(/^data_orgs_s3 is not supported/),
  'import: dataOrgsLocal missing file': notServed(/^data_orgs_local is not supported/),
  'export: neither output': noOutput,
  'export: unknown org id': same,
  'export: bad timeout': badTimeout(
    'Specification 8.1 has the timeout bound the call, so a wrong one cannot be ignored.',
  ),
  'export: gcs_output bad bucket': refuses(
    'Specification 4.2 has the export written to the bucket, so a wrong one is refused; ZITADEL ignores gcs_output.',
    400,
    3,
    /^gcs_output.bucket: /,
  ),
  'import: body 4.3 MB': refuses(
    'A body above 4 MiB is accepted; this one holds a single action of 4.3 MB, and a record has at most 1 MB.',
    400,
    3,
    /^orgs\[0\].actions\[0\]: the value exceeds 1000000 bytes/,
  ),
  'import: body 4.3 MB no auth': refuses('The token is looked at before the body.', 401, 16, /^auth header missing$/),
  'import: body 6 MB whitespace padding (small protobuf)': same,
};
