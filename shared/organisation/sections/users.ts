import { type RecordWarning, warn } from '../../errors/warnings.ts';
import { isJsonObject, type JsonObject, putAt, textAt, valueAt } from '../../json/jsonObject.ts';
import type { PartitionRange, StoredDocument } from '../../store/store.ts';
import { passwordHashWarning } from '../hashFormats.ts';
import { canonicalLanguageTag } from '../languageTag.ts';
import { isTotpSeed } from '../passwordRules.ts';
import { deriveId, reorder } from '../recordBody.ts';
import type { RecordIssue } from '../relations.ts';
import {
  emailInvalid,
  isE164,
  isEmailAddress,
  isLongId,
  languageTag,
  MAX_ID_CHARACTERS,
  phone,
  trimmedText,
} from '../valueRules.ts';
import { unexported } from '../zitadelFacts.ts';
import { nestedLinks } from './identityProviders.ts';
import { peopleInZitadel } from './peopleInZitadel.ts';
import { type Credential, type ImportedRecord, type Section, serviceUsers } from './section.ts';
import { userStates } from './sectionStates.ts';
import { own, taken, user } from './sharedReferences.ts';

const LANGUAGE = 'user.profile.preferredLanguage';
const PHONE = 'user.phone.phone';

export const userNameTaken = taken('Errors.User.AlreadyExists');

const userName: NonNullable<Section['unique']> = [
  {
    type: 'userName',
    parts: ['user.userName'],
    taken: userNameTaken,
    lookAlikes: true,
    perOrganisationByDomainPolicy: true,
  },
];

/**
 * The issue of a record whose import would change the state of the calling user. The change could lock out the caller.
 */
export const ownState: RecordIssue = { id: 'IMPORT-ownState', key: 'Errors.User.OwnState' };

/** The issue of a record that would suspend the last active owner of the instance. */
export const lastOwnerState: RecordIssue = { ...ownState, reason: 'owner_state_kept' };

export const SEED_TYPE = 'human_user_otp';

export const personCredentials = {
  password: { path: 'user.hashedPassword.value', clear: 'user.password', field: 'passwordHash', flag: 'withPasswords' },
  totp: { path: 'user.otpCode', field: 'totpSeed', flag: 'withOtp' },
} as const satisfies Readonly<Record<string, Credential>>;

export const humanUserSection: Section = {
  name: 'humanUsers',
  inner: 'user',
  collection: 'users',
  phase: 2,
  zitadelStep: 'people',
  key: ['userId'],
  canonicalise: canonicalisePerson,
  unique: userName,
  reserved: [
    {
      type: 'domain',
      suffixOf: 'user.userName',
      reserved: { id: 'COMMAND-SFd21', key: 'Errors.User.DomainNotAllowedAsUsername' },
    },
  ],
  nested: nestedLinks,
  optional: ['user.email.isEmailVerified', 'user.phone.isPhoneVerified', 'user.requestPasswordlessRegistration'],
  // The field contains the seed of a second factor. Without this factor, the person would be less protected. So an
  // import rejects the person if the field is invalid.
  needed: ['user.otpCode'],
  check: checkPerson,
  credentials: Object.values(personCredentials),
  values: {
    'user.userName': trimmedText({ id: 'COMMAND-00p2b', key: 'Errors.User.Username.Empty' }),
    [LANGUAGE]: languageTag,
    'user.phone': phone,
  },
  exported: { withoutFilled: inCanonicalLanguage },
  filled: [
    { path: 'user.profile.displayName', value: defaultDisplayName },
    { path: LANGUAGE, value: 'und' },
  ],
  additional: {
    kept: [{ path: 'otpEmail', type: 'factor' }],
    ignored: [
      {
        path: 'user.hashedPassword.algorithm',
        reason: 'the text of the hash already begins with the name of the algorithm',
      },
    ],
  },
  valueWarning: warnOfPhone,
  warnings: warnOfPerson,
  zitadel: peopleInZitadel,
  error: {
    type: 'human_user',
    id: ['userId'],
    exists: { id: 'COMMAND-ziuna', key: 'Errors.User.AlreadyExisting' },
    existsToo: [{ type: SEED_TYPE, id: 'COMMAND-do9se', release: '4' }],
    parts: [{ type: SEED_TYPE }],
  },
  success: { field: 'humanUserIds', entry: ['userId'] },
};

export const machineUserSection: Section = {
  ...serviceUsers,
  inner: 'user',
  collection: 'users',
  phase: 2,
  zitadelStep: 'service users',
  key: ['userId'],
  zitadel: {
    fields: [unexported('user.accessTokenType'), ...userStates],
    unexported: ['personal access tokens and secrets'],
  },
  canonicalise: canonicaliseServiceUser,
  repeated: { field: 'user.userId', by: 'userId' },
  unique: userName,
  error: {
    type: 'machine_user',
    id: ['userId'],
    exists: { id: 'COMMAND-k2una', key: 'Errors.User.AlreadyExisting' },
  },
  success: { field: 'machineUserIds', entry: ['userId'] },
};

export const userMetadataSection: Section = {
  name: 'userMetadata',
  collection: 'userMetadata',
  phase: 3,
  zitadelStep: 'parts of users',
  key: ['id', 'key'],
  references: [own(user('id', 'COMMAND-uXHNj'))],
  error: {
    type: 'user_metadata',
    id: ['id', 'key'],
    exists: { id: 'IMPORT-metadataExists', key: 'Errors.Metadata.AlreadyExists' },
  },
  success: { field: 'userMetadata', entry: { userId: 'id', key: 'key' } },
};

const DELETION = 'deletedUsers/';

/**
 * Returns the partition of an organisation's users whose deletion has begun. The partition belongs to no section. So
 * exports omit these users, but their ids remain in use.
 */
export function deletionPartition(orgId: string): string {
  return `${DELETION}${orgId}`;
}

export const deletionPartitions: PartitionRange['partitions'] = { from: DELETION, to: 'deletedUsers0' };

/**
 * True if the deletion of a stored user has begun. The user then counts as missing, but no other user can have the id.
 */
export function isInDeletion({ partition }: StoredDocument): boolean {
  return partition?.startsWith(DELETION) === true;
}

/**
 * Returns the section of a user, which is the section for people or for service users. In canonical JSON, only people
 * have a profile.
 */
export function userSection(json: JsonObject): Section {
  return valueAt(json, 'user.profile') === undefined ? machineUserSection : humanUserSection;
}

function canonicalisePerson(json: JsonObject, orgId: string): void {
  if (json.userId !== undefined && json.state !== undefined) return;
  const { userId, user, state, ...kept } = json;
  reorder(json, {
    userId: userId ?? deriveId(orgId, textAt(json, 'user.userName', orgId)),
    user,
    state: state ?? unstatedState(json),
    ...kept,
  });
}

/**
 * Returns the most likely state of a person whose record has no state. The state is INITIAL, unless the e-mail address
 * is verified or an identity provider is linked (zitadel 5.5). In ZITADEL, people without a password are initial too.
 * This service cannot follow this rule, because exports may omit passwords.
 */
function unstatedState(json: JsonObject): string {
  const isKnown = valueAt(json, 'user.email.isEmailVerified') === true || valueAt(json, 'user.idps') !== undefined;
  return isKnown ? 'USER_STATE_ACTIVE' : 'USER_STATE_INITIAL';
}

function defaultDisplayName(person: JsonObject): string {
  return `${textAt(person, 'user.profile.firstName', '')} ${textAt(person, 'user.profile.lastName', '')}`;
}

/**
 * Replaces a person's language with its canonical form. ZITADEL stores the canonical form, so a comparison with ZITADEL
 * needs it.
 */
function inCanonicalLanguage(person: JsonObject): JsonObject {
  const language = textAt(person, LANGUAGE, '');
  const canonical = canonicalLanguageTag(language);
  if (language === '' || canonical === language) return person;
  const copy = structuredClone(person);
  putAt(copy, LANGUAGE, canonical);
  return copy;
}

/**
 * Copies the user's id into the object `user`, because ZITADEL reads the id from this object. If the object already
 * contains a different id, the id outside of the object replaces it.
 */
function canonicaliseServiceUser(json: JsonObject, orgId: string): void {
  const { userId: outerId, user, state, ...kept } = json;
  const isCanonical = isJsonObject(user) && outerId !== undefined && state !== undefined;
  if (isCanonical && user.userId === outerId && Object.keys(user).at(-1) === 'userId') return;
  const { userId: innerId, ...inner } = isJsonObject(user) ? user : {};
  const userId = outerId ?? innerId ?? deriveId(orgId, textAt(json, 'user.userName', orgId));
  reorder(json, { userId, user: { ...inner, userId }, state: state ?? 'USER_STATE_ACTIVE', ...kept });
}

function checkPerson(record: JsonObject): RecordIssue | undefined {
  const address = textAt(record, 'user.email.email', '');
  return isEmailAddress(address) ? undefined : emailInvalid(address);
}

const NO_USER_WARNINGS: readonly RecordWarning[] = [];
const INVALID_SEED = warn('seed_unusable', {});

const LONG_ID = warn('id_too_long', { limit: MAX_ID_CHARACTERS });

function warnOfId({ json }: ImportedRecord): readonly RecordWarning[] {
  return isLongId(textAt(json, 'userId', '')) ? [LONG_ID] : NO_USER_WARNINGS;
}

function warnOfPerson(record: ImportedRecord): readonly RecordWarning[] {
  const { passwordHash, totpSeed } = record.credentials;
  const ofHash = passwordHash === undefined ? undefined : passwordHashWarning(passwordHash);
  const ofSeed = totpSeed === undefined || isTotpSeed(totpSeed) ? undefined : INVALID_SEED;
  const ofId = warnOfId(record);
  if (ofHash === undefined && ofSeed === undefined) return ofId;
  return [...ofId, ofHash, ofSeed].filter((warning) => warning !== undefined);
}

function warnOfPhone({ json, given = json }: ImportedRecord): RecordWarning | undefined {
  const phone = textAt(json, PHONE, '');
  if (phone === '') return undefined;
  if (!isE164(phone)) return warn('phone_unclear', { phone: JSON.stringify(phone) });
  const text = textAt(given, PHONE, '');
  return text !== phone ? warn('phone_corrected', { given: JSON.stringify(text), phone }) : undefined;
}
