// Messages of servers in the words of the command.

import { z } from 'zod';
import { hasCode } from '../shared/errors/identityError.ts';
import { placeRefused } from '../shared/errors/placeErrors.ts';

const EXISTS =
  'exists with other content, in another organisation, or earlier in the file: --on-conflict overwrite replaces content of the same one';

const missing = (target: string) => `refers to ${target} that was not imported and does not exist in the target`;

/** Sentences for an import's errors, by their ids or keys. */
const importErrors: readonly (readonly [error: RegExp, sentence: string])[] = [
  [
    /^ID=V3-DKcYh Errors\.User\.Already/,
    'another user has this login name: users of several organisations share one only if `userLoginMustBeDomain` is set in their domain policies',
  ],
  [/^ID=V3-DKcYh Errors\.User\.ExternalIDP\./, 'another person has this external identity'],
  [/^ID=V3-DKcYh Errors\.Org\.Already/, 'another organisation has this name: rename one of them'],
  [/^ID=V3-DKcYh Errors\.Org\.Domain\./, 'another organisation has verified this domain'],
  [/^ID=V3-DKcYh Errors\.Project\.Already/, 'another project of the organisation has this name'],
  [
    /^ID=V3-DKcYh Errors\.Project\.App\./,
    'another application of the project has this name; in a ZITADEL also if its organisation was deleted',
  ],
  [/^ID=V3-DKcYh Errors\.Action\./, 'another action of the organisation has this name'],
  [/^ID=V3-DKcYh Errors\.IDPConfig\./, 'another identity provider of the organisation has this name'],
  [
    /^ID=V3-DKcYh Errors\.Member\./,
    'the user was a member of an organisation of this id that was deleted, and cannot become one again: if the error is about the organisation, import with the token of another user, who becomes its owner',
  ],
  [
    /^ID=CRYPT-5uV9n /,
    'the ZITADEL refuses the password hash for its cost: change SystemDefaults.PasswordHasher.Limits there, or migrate with --refused-hashes omit',
  ],
  [
    /^ID=CRYPT-(?:2xK7d|r8Qm2) /,
    'the ZITADEL has no verifier for the password hash: add it to SystemDefaults.PasswordHasher.Verifiers there, or migrate with --refused-hashes omit',
  ],
  [
    /^ID=PROJECT-msNebo /,
    'the ZITADEL refuses the host in `backChannelLogoutUri`, which is unknown there or private: change HTTPClient.DenyList there, or import the application without this field',
  ],
  [
    /^ID=COMM-deLSk /,
    'the target does not have this organisation, and the file has no name to create it with (`org.name`)',
  ],
  [/^ID=ORG-4Mlfs /, 'the `orgId` of an organisation, or the `roles` of a member are missing: add them'],
  [
    /^ID=ORG-1M8ds /,
    'the organisation has another domain policy: --on-conflict overwrite replaces it, unless that changes the scope of user names',
  ],
  [/^ID=IMPORT-orgState /, 'an import does not change the state of an existing organisation'],
  [/^ID=IMPORT-ownState /, 'an import does not change the state of its caller'],
  [/^ID=IMPORT-rolesInUse /, 'the project grant would lose roles that user grants still use'],
  [/ Errors\.\S*DomainNotAllowedAsUsername/, "the user name ends with another organisation's verified domain"],
  [/ Errors\.\S*(?:Already\.?Exist|NoChanges)/, EXISTS],
  [/ Errors\.User\.NotFound/, missing('a user')],
  [/ Errors\.Project\.Grant\.NotFound/, missing('a project or project grant')],
  [/ Errors\.Project\.Role\.NotFound/, missing('a project role')],
  [/ Errors\.Project\.NotFound/, missing('a project')],
  [/ Errors\.Org\.NotFound/, missing('an organisation')],
  [/ Errors\.\S*Not(?:Found|Exist)/, missing('a record')],
  [/ Errors\.\S*Member\.?Invalid/, 'the member has no role that is valid there'],
  [/PasswordComplexityPolicy\.(?:MinLength$|Has)/, "the password is too short or simple for its organisation's policy"],
  [/ Errors\.AuthNKey\.ExpireBeforeNow/, 'the key has expired'],
];

/** An error that consists of its key. */
const ERROR_KEY = /^ID=(\S+) (?:Message=)?Errors\.(\S+)/;
const WORD_START = /\.|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g;

/** The command's options for the fields of requests that messages mention. */
const fieldOptions: Readonly<Record<string, string>> = {
  with_passwords: '--with passwords',
  with_otp: '--with otp',
  with_keys: '--with keys',
  for_zitadel: '--for-zitadel',
  org_ids: '--org',
  excluded_org_ids: '--exclude-org',
  on_conflict: '--on-conflict',
  new_orgs_only: '--new-orgs-only',
  dry_run: '--dry-run',
};

/** A violation in ZITADEL's validation, with the path from the request to the field. */
const VIOLATION = /invalid \w{1,100}\.\S{1,100}: embedded message failed validation \| caused by: .*/;

/** Returns the path of an invalid field in the file, and the problem. */
function violationText(message: string): string {
  const names = [...message.matchAll(/invalid \w+\.(\S+): /g)].map(([, name = '']) => name);
  const path = names.map((name) => name.slice(0, 1).toLowerCase() + name.slice(1)).join('.');
  return `${path}: ${message.replace(/^.*invalid \w+\.\S+: /, '')}`;
}

/**
 * Rewords a message of a server for people: without error ids, with options instead of fields.
 * @example
 *     humanMessage('ID=DOMAIN-dv3t5 Message=Errors.AuthNKey.ExpireBeforeNow'); // the key has expired
 */
export function humanMessage(message: string): string {
  const known = importErrors.find(([error]) => error.test(message.replace(' Message=', ' ')));
  const reworded = message
    .replace(VIOLATION, violationText)
    .replace(/^ID=IMPORT-tooLong Message=/, '')
    .replace(ERROR_KEY, (_, id: string, key: string) => `${key.replace(WORD_START, ' ').toLowerCase()} (${id})`);
  return known?.[1] ?? reworded.replace(/`?\b([a-z]+(?:_[a-z]+)+)\b`?/g, (text, field) => fieldOptions[field] ?? text);
}

const MAX_FIELDS = 10;
const MAX_FIELD_CHARACTERS = 500;

/** The invalid fields of a request, in the details of its error (specification 7.4). */
const invalidFields = z.looseObject({
  fieldViolations: z.array(z.looseObject({ field: z.string(), description: z.string() })),
});

/**
 * Describes why a file is rejected: every invalid field with its path, or the message if the details have none.
 * @example
 *     rejection(error); // orgs[0].humanUsers[1].user.userName: missing or empty: expected 1 to 200 characters
 */
export function rejection({ message, details = [] }: Rejection): string {
  const fields = details
    .flatMap((detail) => invalidFields.safeParse(detail).data?.fieldViolations ?? [])
    .filter(({ field }) => field.startsWith('orgs['))
    .map(({ field, description }) => `${field}: ${description}`.slice(0, MAX_FIELD_CHARACTERS));
  if (fields.length === 0) return message;
  const more = fields.length - MAX_FIELDS;
  return [...fields.slice(0, MAX_FIELDS), ...(more > 0 ? [`and ${more} or more other fields`] : [])].join('; ');
}

/** Returns the error of a place that rejects a file as invalid; any other error stays as it is. */
export function asRefusal(place: string, error: unknown): unknown {
  return hasCode(error, 'INVALID_ARGUMENT') ? placeRefused(place, rejection(error), error) : error;
}

interface Rejection {
  readonly message: string;
  readonly details?: readonly unknown[] | undefined;
}

/** Returns the word for a state such as `USER_STATE_LOCKED`: `locked`. */
export function stateWord(state: string): string {
  return state.replace(/^.*_STATE_/, '').toLowerCase();
}
