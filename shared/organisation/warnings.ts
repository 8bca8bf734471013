/** The reasons of an import's warnings. Programs may depend on them; messages are for people, and change. */
export const warningReasons = [
  'field_ignored',
  'manifest_missing',
  'page_continued',
  'states_unknown',
  'people_initial',
  'login_names_differ',
  'organisation_missing',
  'organisation_unnamed',
  'privilege_added',
  'domain_added',
  'state_changed',
  'record_repeated',
  'name_taken',
  'roles_in_use',
  'value_unknown',
  'value_dropped',
  'field_filled',
  'field_unset',
  'grant_to_itself',
  'primary_repeated',
  'id_too_long',
  'hash_unverified',
  'hash_unsupported',
  'seed_unusable',
  'phone_unclear',
  'reference_missing',
  'providers_not_exported',
  // Of the command, for an import into a ZITADEL.
  'seeds_sent',
  'secrets_not_compared',
  'secrets_missing',
  'access_given',
  'left_to_do',
] as const;

/** The reason of a warning. */
export type WarningReason = (typeof warningReasons)[number];

/** A warning of a record. */
export interface RecordWarning {
  readonly reason: WarningReason;
  readonly message: string;
}
