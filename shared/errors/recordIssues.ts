import { type IssueParams, type IssueRow, issueParams, type ParametersOf } from './issueText.ts';

const USE_ANOTHER_ID = 'give the record another id, or import into another instance';

/**
 * The errors about records in an import into this service, by reason. A response contains the reason and the message
 * that ZITADEL would send. The command prints `text` and `remedy` instead of that message.
 */
export const instanceIssues = {
  record_exists: {
    text: 'exists with other content[: {fields}]',
    remedy: {
      http: 'set `on_conflict` to `skip` to keep the existing record, or to `overwrite` to replace it',
      command: 'use --on-conflict skip to keep the existing record, or --on-conflict overwrite to replace it',
    },
  },
  state_kept: {
    text: 'exists with another state, which an import of this file does not change: {fields}',
    remedy: {
      http: 'change the state in the target, or set `on_conflict` to `skip` to accept the difference',
      command: 'change the state in the target, or use --on-conflict skip to accept the difference',
    },
  },
  factor_removed: {
    text: 'exists with other content: {fields}; the file has an OTP e-mail factor that the target lacks or has removed',
    remedy: {
      http: 'set `on_conflict` to `skip` to keep the person without the factor, or to `overwrite` to restore the factor',
      command:
        'use --on-conflict skip to keep the person without the factor, or --on-conflict overwrite to restore the factor',
    },
  },
  field_fixed: {
    text: '{fields} of an existing record cannot change',
    remedy: 'give the record the value that the target has, or delete its organisation in the target first',
  },
  id_taken: { text: '{owner} has {holder} with this id', remedy: USE_ANOTHER_ID },
  id_of_other_kind: {
    text: 'the id belongs to {holder} of {owner}',
    remedy: USE_ANOTHER_ID,
  },
  id_in_deletion: {
    text: 'the deletion of the user with this id was interrupted',
    remedy: 'repeat the import that was mirroring, or delete the user again; then repeat this import',
  },
  record_repeated: { text: 'is in the file twice', remedy: 'the import uses the first record; remove the second' },
  id_repeated: {
    text: 'the file has the id twice, first for {holder} of {owner}[, then for the {record} of organisation {organisation}]',
    remedy: 'the import uses the first record; give the second record another id, also in the records that refer to it',
  },
  login_name_taken: {
    text: 'another user has the same login name[ {name}][: {holder}][ of organisation {organisation}]',
    remedy:
      'change one of the names[; you can instead give both organisations `"domainPolicy":{"userLoginMustBeDomain":true}` before the first import of {organisation}][; if this import renames {changing}, send the import again]',
  },
  name_taken: {
    text: 'another {record} has the same name[ {name}][: {holder}][ of organisation {organisation}]',
    remedy: 'change one of the names[; if this import renames {changing}, send the import again]',
  },
  application_name_taken: {
    text: 'another application of the project has the same name[ {name}][: {holder}]',
    remedy: 'change one of the names; in ZITADEL, applications of deleted organisations keep their names',
  },
  domain_taken: {
    text: 'another organisation has verified the same domain[: {organisation}]',
    remedy: 'remove the domain from one of the organisations',
  },
  identity_taken: {
    text: 'another person is linked to the same external identity[: {holder}]',
    remedy: 'remove the link from one of the people',
  },
  domain_reserved: {
    text: 'the user name ends with the verified domain of another organisation[: {organisation}]',
    remedy: 'rename the user, or remove the domain from that organisation',
  },
  login_names_settled: {
    text: 'the organisation already has users, and this policy would change the scope of their names (organisation or instance)',
    remedy: 'delete the organisation in the target, then import it with the policy',
  },
  domain_policy_exists: {
    text: 'the organisation has another domain policy[: {fields}]',
    remedy: {
      http: 'set `on_conflict` to `overwrite` to replace the policy, unless the new policy would change the scope of user names',
      command:
        'use --on-conflict overwrite to replace the policy, unless the policy is in ZITADEL, or the new policy would change the scope of user names',
    },
  },
  reference_missing: {
    text: 'refers to {target} that does not exist in the target[: {field} has {id}]',
    remedy: 'import the other record first, or correct the error of that record',
  },
  reference_foreign: {
    text: '{field} has {id}, which belongs to organisation {organisation}',
    remedy: 'refer to a record of the same organisation',
  },
  value_missing: { text: '{field} is missing', remedy: 'add the field' },
  organisation_unnamed: {
    text: 'the organisation does not exist, and has no name in the file',
    remedy: 'add `org` with a `name`, or use the `orgId` of an existing organisation',
  },
  organisation_state_kept: {
    text: 'an import does not change the state of an existing organisation',
    remedy: 'leave `orgState` out, or change the state in the target',
  },
  own_state_kept: {
    text: 'an import does not change the state of the user whose token it uses',
    remedy: "import with another user's token",
  },
  owner_state_kept: {
    text: 'an import does not deactivate or lock the last active IAM_OWNER',
    remedy: 'make another user IAM_OWNER, then send the import again',
  },
  roles_in_use: {
    text: 'the project grant would lose roles that user grants still use[: {roles} (user grants: {count}, such as {grant})]',
    remedy: 'remove the roles from the user grants first; if this import removes them, send the import again',
  },
  changed_meanwhile: {
    text: 'another call changed or removed the record after this import began',
    remedy: 'check the record, then repeat the import to create or overwrite the record',
  },
  deletion_referenced: {
    text: 'the import keeps the record, although the file lacks it, because {referrer} of organisation {organisation} refers to the record',
    remedy: 'remove the referring record first, then send the import again',
  },
  deletion_of_caller: {
    text: 'the import keeps the user, although the file lacks it, because the import uses a token of this user',
    remedy: 'import with the token of a user of another organisation',
  },
  deletion_of_owner: {
    text: 'the import keeps the user, although the file lacks it, because no other active user is IAM_OWNER',
    remedy: 'make another user IAM_OWNER, then send the import again',
  },
  deletion_of_changed: {
    text: 'the import keeps the record, although the file lacks it: after this import began, another call changed the record, or gave the user a role or a token',
    remedy: 'check the record, then change the source, or send the import again to delete the record',
  },
  deletion_of_scope: {
    text: 'the import keeps the policy, although the file lacks it, because the scope of user names depends on this policy',
    remedy: 'delete the organisation in the target, then import it',
  },
  member_roles_invalid: {
    text: 'the member has no role of ZITADEL that is valid for this kind of membership[: {roles}]',
    remedy: 'give the member a role of ZITADEL for this kind of membership',
  },
  domain_unverified: {
    text: 'a primary domain must be verified: the import stores this domain without `isPrimary`',
    remedy: {
      http: 'remove `isPrimary`, or verify the domain and import it with `on_conflict: "overwrite"`',
      command: 'remove `isPrimary`, or verify the domain and import it with --on-conflict overwrite',
    },
  },
  trigger_invalid: {
    text: 'the flow is unknown, or does not have the trigger[: {field} is {value}]',
    remedy: 'correct `flowType` and `triggerType`[: {field} must be one of {allowed}]',
  },
  trigger_unchanged: {
    text: 'the record contains no actions, or only actions that the trigger already has',
    remedy: 'add `actionIds`, or leave the record out',
  },
  language_unknown: { text: 'the language is unknown[: {language}]', remedy: 'correct `language`' },
  email_invalid: { text: 'the e-mail address is invalid[: {address}]', remedy: 'correct `user.email.email`' },
  password_too_simple: {
    text: "the password is too short or simple for its organisation's policy[: {rule} requires {expected}]",
    remedy: 'choose another password, or relax the policy',
  },
  password_too_long: { text: 'the password has more than {limit} bytes', remedy: 'choose a shorter password' },
  password_length_invalid: {
    text: '`minLength` is not from 1 to 72',
    remedy: 'correct the number',
  },
  key_expired: { text: 'the key has expired', remedy: 'omit the key, and create a new key' },
  key_invalid: {
    text: '`publicKey` is not a public key in PEM[: {problem}]',
    remedy: 'encode the PEM text with its line BEGIN PUBLIC KEY in base64',
  },
  key_unused: {
    text: 'the application does not authenticate with keys',
    remedy: 'change its authentication method to private key JWT, or omit the key',
  },
  value_too_long: { text: '{field} has more than {limit}', remedy: 'shorten the value' },
  value_invalid: { text: '[{field}: ]{problem}[; {others}]', remedy: 'correct the value' },
  character_invalid: {
    text: "{field} contains the character NUL, which ZITADEL's databases cannot store",
    remedy: 'remove the character',
  },
} as const satisfies Record<string, IssueRow>;

const REGISTER_ANEW = 'the person must register an authenticator app';
const CLOSE_IT = 'deactivate or lock the record in the target';

/**
 * Errors about records that occur only in an import into ZITADEL. The keys are the reasons. The command finds most of
 * these problems itself, because ZITADEL's responses report only a few.
 */
export const zitadelIssues = {
  hash_cost_refused: {
    text: 'ZITADEL refuses the password hash because of its cost',
    remedy: 'change SystemDefaults.PasswordHasher.Limits of ZITADEL, or migrate with --accept refused-hashes',
  },
  hash_unverifiable: {
    text: 'ZITADEL has no verifier for the password hash',
    remedy:
      'add the verifier to SystemDefaults.PasswordHasher.Verifiers of ZITADEL, or migrate with --accept refused-hashes',
  },
  logout_host_refused: {
    text: 'ZITADEL refuses the host in `backChannelLogoutUri`, because the host is private or unknown to ZITADEL',
    remedy: 'change HTTPClient.DenyList of ZITADEL, or import the application without this field',
  },
  email_refused: {
    text: 'this release of ZITADEL refuses the e-mail address, which other releases accept (4.13 accepts letters outside ASCII)',
    remedy: 'upgrade ZITADEL, or change `user.email.email`',
  },
  zitadel_refuses: {
    text: 'ZITADEL refuses the record: {error}',
    remedy: 'correct the record, then repeat the command',
  },
  content_kept: {
    text: 'exists with other content, which ZITADEL does not overwrite: {fields}',
    remedy: 'change the record in the source or in ZITADEL, or accept the difference with --on-conflict skip',
  },
  dependency_not_imported: {
    text: 'the record depends on {target}, which is not imported',
    remedy: 'first correct the error of the other record',
  },
  organisation_deleted: {
    text: 'organisation {organisation} was deleted in the target, and its records cannot return there with the same ids',
    remedy: 'import into another instance, or give the organisation and its users, projects and actions other ids',
  },
  id_deleted_elsewhere: {
    text: '{owner} had {holder} with this id, and this release of ZITADEL would write the record into that organisation',
    remedy: USE_ANOTHER_ID,
  },
  id_deleted: {
    text: '{holder} had this id and was deleted with {owner}, and ZITADEL does not accept the id for a whole new record',
    remedy: USE_ANOTHER_ID,
  },
  id_used: {
    text: '{holder} with this id was deleted in {owner}, and ZITADEL never accepts the id again',
    remedy: 'create the record again in the source, with a new id',
  },
  written_elsewhere: {
    text: 'organisation {organisation} got a record with this id during the import, so ZITADEL may have written this record into that organisation',
    remedy: 'look at the events of this id in ZITADEL before you delete a record',
  },
  record_hidden: {
    text: "the record exists, but the target's export does not contain it",
    remedy:
      'look for the record in the target; if another record has the same id or name, change the id or name of one of the two',
  },
  creation_unconfirmed: {
    text: 'ZITADEL reported no error, but the target does not show the record',
    remedy: 'repeat the command',
  },
  creation_not_exported: {
    text: "the record was created, but the target's export does not contain it",
    remedy: 'compare the source and the target',
  },
  creation_differs: {
    text: "the record was created, but the target's export has other content: {fields}",
    remedy: 'compare the source and the target',
  },
  seed_of_foreign_person: {
    text: "the target lacks the TOTP seed; the import does not send the seed, because no import by the token's user created the person",
    remedy: REGISTER_ANEW,
  },
  seed_of_changed_person: {
    text: "the target lacks the TOTP seed; the import does not send the seed, because something other than an import by the token's user created or changed the person: event {event} by {user} at {time}",
    remedy: REGISTER_ANEW,
  },
  seed_of_different_person: {
    text: 'the target lacks the TOTP seed; the import does not send the seed, because the person differs from the person in the source',
    remedy: REGISTER_ANEW,
  },
  open_foreign: {
    text: "the record is {state} in the source, but neither deactivated nor locked in the target; the import does not change the state, because no import by the token's user created the record",
    remedy: CLOSE_IT,
  },
  open_after_event: {
    text: "the record is {state} in the source, but neither deactivated nor locked in the target; the import does not change the state, because something other than an import by the token's user created or changed the record: event {event} by {user} at {time}",
    remedy: CLOSE_IT,
  },
  open_refused: {
    text: 'the record is {state} in the source, but neither deactivated nor locked in the target; ZITADEL refused to change the state: {error}',
    remedy: CLOSE_IT,
  },
  open_unconfirmed: {
    text: 'the record is {state} in the source, but no event shows that the record is deactivated or locked in the target',
    remedy: CLOSE_IT,
  },
  deletion_refused: {
    text: 'the file lacks the record, but ZITADEL does not delete it: {error}',
    remedy: "delete the record in ZITADEL's console",
  },
  open_in_search: {
    text: "the record is {state} in the source; events of the target show the same state, but the target's search returns the record as active",
    remedy: 'reactivate or unlock the record in the target, then deactivate or lock it again',
  },
} as const satisfies Record<string, IssueRow>;

export const recordIssues = { ...instanceIssues, ...zitadelIssues };

export type RecordReason = keyof typeof recordIssues;

type Parameters<Reason extends RecordReason> = ParametersOf<(typeof recordIssues)[Reason]>;

type Reasoned<Reason extends RecordReason> = { readonly reason: Reason } & (Partial<
  Parameters<Reason>
> extends Parameters<Reason>
  ? { readonly params?: Parameters<Reason> }
  : { readonly params: Parameters<Reason> });

export type AnyReasoned = { readonly [Reason in RecordReason]: Reasoned<Reason> }[RecordReason];

/** The reason of an error about a record, and the values of the text's parameters. */
export interface Meaning {
  readonly reason: RecordReason;
  readonly params?: IssueParams;
}

const exists = because('record_exists', {});
const nameTaken = (record: string) => because('name_taken', { record });
const missing = (target: string) => because('reference_missing', { target });
const rolesInvalid = because('member_roles_invalid', {});
const passwordTooSimple = because('password_too_simple', {});

/**
 * Maps the message key of each of ZITADEL's errors about records to this service's reason. If a message key has several
 * meanings, the key of the entry is the error's id instead.
 */
export const zitadelErrors = {
  'Errors.Action.AlreadyExisting': exists,
  'Errors.Already.Exists': exists,
  'Errors.AlreadyExists': exists,
  'Errors.CustomText.AlreadyExists': exists,
  'Errors.Flow.AlreadyExists': exists,
  'Errors.Metadata.AlreadyExists': exists,
  'Errors.ORG.LockoutPolicy.AlreadyExists': exists,
  'Errors.Org.AlreadyExisting': exists,
  'Errors.Org.IDPConfig.AlreadyExisting': exists,
  'Errors.Org.LabelPolicy.AlreadyExists': exists,
  'Errors.Org.LoginPolicy.AlreadyExists': exists,
  'Errors.Org.Member.AlreadyExists': exists,
  'Errors.Org.PasswordComplexityPolicy.AlreadyExists': exists,
  'Errors.Org.PrivacyPolicy.AlreadyExists': exists,
  'Errors.Project.AlreadyExisting': exists,
  'Errors.Project.App.AlreadyExisting': exists,
  'Errors.Project.App.Key.AlreadyExisting': exists,
  'Errors.Project.Grant.AlreadyExists': exists,
  'Errors.Project.Member.AlreadyExists': exists,
  'Errors.Project.Role.AlreadyExists': exists,
  'Errors.User.AlreadyExisting': exists,
  'Errors.User.Machine.Key.AlreadyExists': exists,
  'Errors.UserGrant.AlreadyExists': exists,
  'Errors.Org.DomainPolicy.AlreadyExists': because('domain_policy_exists', {}),
  'Errors.User.AlreadyExists': because('login_name_taken', {}),
  'Errors.Org.AlreadyExists': nameTaken('organisation'),
  'Errors.Project.AlreadyExists': nameTaken('project'),
  'Errors.Action.AlreadyExists': nameTaken('action'),
  'Errors.IDPConfig.AlreadyExists': nameTaken('identity provider'),
  'Errors.Project.App.AlreadyExists': because('application_name_taken', {}),
  'Errors.Org.Domain.AlreadyExists': because('domain_taken', {}),
  'Errors.User.ExternalIDP.AlreadyExists': because('identity_taken', {}),
  'Errors.User.DomainNotAllowedAsUsername': because('domain_reserved', {}),
  'Errors.User.NotFound': missing('a user'),
  'Errors.Project.NotFound': missing('a project'),
  'Errors.Project.Role.NotFound': missing('a project role'),
  'Errors.Project.Grant.NotFound': missing('a project or project grant'),
  'Errors.Project.Grant.Invalid': missing('a project grant of the organisation'),
  'Errors.Project.App.NotFound': missing('an application'),
  'Errors.Org.NotFound': missing('an organisation'),
  'Errors.IDPConfig.NotExisting': missing('an identity provider'),
  'Errors.Flow.ActionIDsNotExist': missing('an action'),
  'Errors.Flow.FlowTypeMissing': because('trigger_invalid', {}),
  'Errors.Flow.WrongTriggerType': because('trigger_invalid', {}),
  'Errors.Flow.NoChanges': because('trigger_unchanged', {}),
  'Errors.Invalid.Argument': because('value_missing', { field: '`orgId`, `roles` or `domainName`' }),
  'Errors.User.Username.Empty': because('value_missing', { field: '`user.userName`' }),
  'Errors.Org.Invalid': because('organisation_unnamed', {}),
  'Errors.Org.State': because('organisation_state_kept', {}),
  'Errors.User.OwnState': because('own_state_kept', {}),
  'Errors.Project.Grant.RolesInUse': because('roles_in_use', {}),
  'Errors.Org.MemberInvalid': rolesInvalid,
  'Errors.Project.Member.Invalid': rolesInvalid,
  'Errors.Project.Grant.Member.Invalid': rolesInvalid,
  'Errors.Org.DomainNotVerified': because('domain_unverified', {}),
  'Errors.Language.Undefined': because('language_unknown', {}),
  'Errors.Language.NotSupported': because('language_unknown', {}),
  'Errors.User.Email.Invalid': because('email_invalid', {}),
  'Errors.User.PasswordComplexityPolicy.MinLength': passwordTooSimple,
  'Errors.User.PasswordComplexityPolicy.HasLower': passwordTooSimple,
  'Errors.User.PasswordComplexityPolicy.HasUpper': passwordTooSimple,
  'Errors.User.PasswordComplexityPolicy.HasNumber': passwordTooSimple,
  'Errors.User.PasswordComplexityPolicy.HasSymbol': passwordTooSimple,
  'Errors.User.PasswordComplexityPolicy.MinLengthNotAllowed': because('password_length_invalid', {}),
  'Errors.AuthNKey.ExpireBeforeNow': because('key_expired', {}),
  'Errors.User.Machine.Key.Invalid': because('key_invalid', {}),
  'Errors.Project.App.AuthMethodNoPrivateKeyJWT': because('key_unused', {}),
  // The command does not send e-mail addresses that every release of ZITADEL rejects. So if this error occurs, the
  // target's release rejects the address, but other releases accept it.
  'EMAIL-599BI': because('email_refused', {}),
  'CRYPT-5uV9n': because('hash_cost_refused', {}),
  'CRYPT-2xK7d': because('hash_unverifiable', {}),
  'CRYPT-r8Qm2': because('hash_unverifiable', {}),
  'PROJECT-msNebo': because('logout_host_refused', {}),
} satisfies Record<string, Meaning>;

export type ZitadelKey = keyof typeof zitadelErrors;

const meanings: ReadonlyMap<string, Meaning> = new Map(Object.entries(zitadelErrors));

export interface ReportedIssue extends Meaning {
  readonly message: string;
}

/**
 * Parses an error about a record from ZITADEL's response. The error has the form `ID=<id> Message=<key>`, or `ID=<id>
 * <key>` in ZITADEL 2.
 */
export function zitadelIssue(message: string): ReportedIssue {
  const [, id = '', key = ''] = /^ID=(\S+) (?:Message=)?(\S*)/.exec(message) ?? [];
  const meaning = meanings.get(id) ?? meanings.get(key) ?? because('zitadel_refuses', { error: message });
  return { message, ...meaning };
}

export function because<Reason extends RecordReason>(reason: Reason, params: Parameters<Reason>): Meaning {
  const reportedParams = issueParams(params);
  return Object.keys(reportedParams).length === 0 ? { reason } : { reason, params: reportedParams };
}
