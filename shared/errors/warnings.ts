import { withoutEmpty } from '../defined.ts';
import { type IssueParams, type IssueRow, issueParams, issueText, type ParametersOf } from './issueText.ts';

/**
 * The warnings of imports. The keys are the reasons. Programs may rely on the reasons, but not on the texts, which can
 * change.
 */
export const warnings = {
  field_ignored: {
    text: 'the import ignores this unknown field of the request[: the nearest known field is {nearest}]',
  },
  manifest_missing: { text: 'the file has no manifest', remedy: 'the completeness of the file cannot be verified' },
  states_unknown: {
    text: 'unknown states: the file lacks states of records (organisations: {organisations}, people: {people}, service users: {serviceUsers}); each of these records is imported in the state active or initial, even if the record is deactivated or locked in the source',
    remedy: 'deactivate or lock such records in the target',
  },
  people_initial: {
    text: 'people whose state becomes `initial`, because the file has no state for them and their e-mail addresses are unverified: {people}',
    remedy: 'add `state` to these people, or set `isEmailVerified` if the source has verified the address',
  },
  login_names_differ: {
    text: 'organisations without a domain policy: {organisations}; the default of the exporting instance is `userLoginMustBeDomain`, which is not the default of this instance: if several organisations have a user of the same name, only one of these users is imported',
    remedy:
      'add a domain policy to these organisations, or import into an instance that `identity init --user-login-must-be-domain` created',
  },
  timeout_expected: {
    text: 'the timeout would end this import after {left}, but new records need {needed} at the rate that the database recommends',
    remedy: {
      http: 'send the import again until it is complete: each call continues the import',
      command: 'repeat the import until it is complete: each call continues the import',
    },
  },
  organisation_missing: {
    text: 'the call selects this organisation, but the file does not contain the organisation, or the call also excludes it',
    remedy: { http: 'correct `org_ids` or `excluded_org_ids`', command: 'correct --org or --exclude-org' },
  },
  privilege_added: { text: 'the import grants the user {user} {roles} in {target}, which existed before' },
  domain_added: { text: 'the import adds the verified domain {domain} to {target}, which existed before' },
  state_changed: { text: 'state changed: {before} to {after}' },
  value_unknown: { text: 'unknown value {value} of {field}: imported without this value' },
  value_dropped: { text: 'imported without {value}, which is not valid in {field}' },
  value_repeated: { text: '{field} contains {value} more than once: imported once' },
  element_invalid: {
    text: 'imported without {field}, which is not valid: {problem}',
    remedy: {
      http: 'correct the file, and import it with `on_conflict: "overwrite"`',
      command: 'correct the file, and import it with --on-conflict overwrite',
    },
  },
  role_dropped: { text: 'imported without {role} of {field}: the project or the project grant lacks the role' },
  action_dropped: { text: 'imported without {action} of {field}: the organisation lacks the action' },
  field_filled: { text: '{field} is absent: imported with {value}' },
  field_unset: {
    text: 'the project grant {value} in {field} is unknown: imported without the project grant, because the organisation owns the project',
  },
  grant_to_itself: {
    text: 'the record grants a project to the organisation that owns the project: neither this grant nor its members are imported; user grants that refer to it are imported without the reference',
  },
  nothing_deleted: {
    text: 'nothing was deleted, because records have errors; number of records in the target that the file lacks: {records}',
    remedy: 'correct the errors, then send the import again',
  },
  primary_exists: { text: '{domain} is already the primary domain: this domain is imported without isPrimary' },
  primary_repeated: {
    text: 'the file marks a later domain as primary too, so the earlier domain is imported without isPrimary',
  },
  id_too_long: { text: 'the id has more than {limit} characters: no operation can find the user by this id' },
  hash_unverified: {
    text: 'in ZITADEL, {format} hashes are {condition}; otherwise the user cannot log in with this password',
    remedy: 'set a new password, or enable the verifier',
  },
  hash_unsupported: {
    text: 'no release of ZITADEL verifies this format of password hashes, so the user cannot log in with this password',
    remedy: 'set a new password; known formats are {formats}',
  },
  seed_unusable: { text: 'the TOTP seed is not base32: no authenticator app can generate its codes' },
  value_converted: { text: '{field} is imported as {stored} instead of {value}', remedy: 'check the value' },
  phone_unclear: {
    text: 'the phone number {phone} is imported unchanged, because it is not a single number in digits',
    remedy: 'correct the number; otherwise ZITADEL stores other digits, or rejects the person',
  },
  phone_corrected: { text: 'the phone number {given} is imported as {phone}', remedy: 'check the number' },
  provider_missing: { text: 'users cannot log in with this identity provider until the target has it: {provider}' },
  linked_provider_missing: {
    text: 'the person cannot log in with the linked identity provider until the target has this provider: {provider}',
  },
  providers_not_exported: {
    text: 'ZITADEL exports identity providers only if they belong to an organisation and are generic OIDC or JWT providers; users cannot log in with these providers until the target has them: {providers}',
  },
  // Only the command, not a server, creates the following warnings.
  file_kept: {
    text: 'the file of the {operation} remains in the bucket of {instance} for up to two days: it could not be deleted ({problem})',
  },
  requests_repeated: {
    text: 'the import took several requests: records that an interrupted request created or overwrote count as unchanged',
  },
  // Warnings about a file that is inspected without a target.
  reference_required: {
    text: 'the record refers to {target} that the file does not contain, or that the import omits[: {field} has {id}]',
    remedy: 'import the file only into a target that has this record, or correct the file',
  },
  part_required: {
    text: 'the file lacks the value {value} of {field}: the record is imported without this value, unless the target has it',
    remedy: 'add the value to the file, or remove it from the record',
  },
  organisation_required: {
    text: 'the file has no name for the organisation',
    remedy: 'import the file only into a target that has the organisation, or add `org` with a `name`',
  },
  // Warnings about a file that the command exported from ZITADEL.
  states_not_returned: {
    text: 'ZITADEL did not return the states of these records in organisation {organisation}, which therefore count as active: {states} ({problem})',
  },
  factors_unknown: {
    text: 'OTP e-mail factors of organisation {organisation} are unknown, and do not move: {problem}',
  },
  fields_unknown: {
    text: 'this version does not know these fields of organisation {organisation}, so they do not move: {fields}',
  },
  memberships_left: {
    text: 'in organisation {organisation}, memberships of users whose own organisation does not move are omitted: {memberships}',
  },
  grants_left: {
    text: 'in organisation {organisation}, grants to users and organisations that do not move are omitted: {grants}',
  },
  // Warnings about an import into ZITADEL.
  release_newer: {
    text: 'this command does not know ZITADEL {version}, and assumes that it behaves like ZITADEL {releases}, because imports of both {seen}',
  },
  release_unknown: {
    text: '{call} without a token returns {status} instead of 400 or 401, so the release of ZITADEL is unknown, and this command considers the behaviour of every release',
  },
  seeds_sent: { text: '{people} existed in the target without a TOTP seed: the seed from the source {outcome}' },
  records_closed: {
    text: 'an earlier import did not deactivate or lock {records}, despite the state in the source: this import {outcome}',
  },
  record_recreated: {
    text: 'the record was deleted in the target, and the import creates it again',
    remedy: 'delete the record in the source too, or again in the target',
  },
  secrets_not_compared: {
    text: 'password hashes and TOTP seeds of {people} who existed before the import are not compared',
    remedy: 'run `identity compare --with passwords,otp` to compare them',
  },
  access_given: { text: '{now} in the target, {source} in the source', remedy: '{remedy} the record in the target' },
} as const satisfies Record<string, IssueRow>;

export type WarningReason = keyof typeof warnings;

export interface RecordWarning {
  readonly reason: WarningReason;
  readonly message: string;
  readonly params?: IssueParams;
}

export function warn<Reason extends WarningReason>(
  reason: Reason,
  values: ParametersOf<(typeof warnings)[Reason]>,
): RecordWarning {
  const params = issueParams(values);
  const message = issueText(warnings[reason], params, 'http');
  return { reason, message, ...withoutEmpty({ params }) };
}
