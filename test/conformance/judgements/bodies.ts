import { answers, type Judgement, type Judgements, refuses, same } from './judgement.ts';

const worded = (message: RegExp): Judgement =>
  refuses('Status and code are those of ZITADEL; the text is our own, which names the field.', 400, 3, message);
const noSource = refuses(
  'Specification 4.3 wants exactly one source; ZITADEL answers 200 and fails in the background.',
  400,
  3,
  /no source: set exactly one of /,
);

/** Bodies that are not JSON, or not JSON of the right types. */
export const bodies: Judgements = {
  'import: malformed JSON': worded(/unexpected end of JSON input/),
  'import: malformed JSON, no auth': refuses(
    'The token is looked at before the body, so that a caller without one learns nothing from it.',
    401,
    16,
    /^auth header missing$/,
  ),
  'import: garbage text': worded(/must be a JSON object/),
  'import: JSON array': worded(/must be a JSON object/),
  'import: JSON string': worded(/must be a JSON object/),
  'import: JSON null': worded(/must be a JSON object/),
  'import: trailing comma': worded(/expected a field name/),
  'import: wrong type timeout number': worded(/^timeout: .*string/),
  'import: wrong type dataOrgs string': worded(/expected an object/),
  'import: wrong type bool as string': worded(/^orgs\[0\].domainPolicy: .*user_login_must_be_domain.*boolean/),
  'import: dataOrgsv1 as JSON string': answers(
    'Specification 2.5 has data_orgsv1 as a string; the object that ZITADEL wants is taken as well.',
    200,
    { kind: 'equals', json: { success: {} } },
  ),
  'export: wrong type withPasswords "yes"': worded(/^with_passwords: .*boolean/),
  'export: wrong type orgIds string': worded(/^org_ids: .*array/),
  'import: null inside array': worded(/^orgs\[0\]: expected an object/),
  'import: two oneof members': refuses(
    'A source that is never available is refused as such, before the sources are counted.',
    501,
    12,
    /^data_orgs_local is not supported/,
  ),
  'import: duplicate field orgId+org_id': worded(/^orgs\[0\].org_id: duplicate field/),
  'import: exact duplicate JSON key': worded(/duplicate field "timeout"/),
  'import: unknown field only + timeout': noSource,
  'export: unknown field': same,
  'import: wrong-case field dataorgs': noSource,
  'import: unknown enum name': refuses(
    'Specification 6.1 rejects an unknown state; ZITADEL takes it for an absent one, which is active.',
    400,
    3,
    /^orgs\[0\]\.orgState: unknown orgState "ORG_STATE_BOGUS"$/,
  ),
  'import: invalid UTF-8': worded(/UTF-8/),
  'import: bytes not base64': worded(/^orgs\[0\].userMetadata\[0\]\.value: .*base64/),
  'import: bad timestamp': worded(/^orgs\[0\].machineKeys\[0\]: .*Timestamp/),
  'import: bad protobuf duration': worded(/^orgs\[0\].loginPolicy\.\w+: .*duration/),
  'import: uint64 as text': worded(/^orgs\[0\].passwordComplexityPolicy: .*min_length/),
  'import: uint32 negative': worded(/^orgs\[0\].lockoutPolicy: .*max_password_attempts/),
};
