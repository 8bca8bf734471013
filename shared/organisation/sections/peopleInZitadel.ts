import { OTHER_FACTORS } from '../../errors/manualStepReasons.ts';
import { parseObject, valueAt } from '../../json/jsonObject.ts';
import type { StoredDocument } from '../../store/store.ts';
import { hashVerification, isVerifiedByDefault, optionalVerifier, SETTING, verifierIn } from '../hashFormats.ts';
import { isClosed } from '../states.ts';
import { type FieldFact, isFalse, type ManualStep, unexported, type ZitadelBehaviour } from '../zitadelFacts.ts';
import {
  describeReleases,
  type ReleaseRange,
  refusingHashes,
  releasesWithoutStates,
  releasesWithStates,
} from '../zitadelReleases.ts';
import { rejectedLink } from './identityProviders.ts';
import { userStates } from './sectionStates.ts';

const HASH = 'user.hashedPassword.value';
const ACTIVE = 'USER_STATE_ACTIVE';
const INITIAL = 'USER_STATE_INITIAL';
const ADDRESS_VERIFIED = 'user.email.isEmailVerified';

/**
 * Returns the state that a person has in ZITADEL after an import by the command. A person who is inactive or locked in
 * the file gets the same state, because the command deactivates or locks the person after ZITADEL has imported the
 * person.
 * @param hasPassword true if the import sends a password or a hash for the person
 */
export function stateInZitadel(state: string | undefined, isVerified: boolean, hasPassword: boolean): string {
  if (state !== undefined && isClosed(state)) return state;
  return hasPassword && isVerified ? ACTIVE : INITIAL;
}

/**
 * True if a record is active in ZITADEL, and neither inactive nor locked in the source. If a person has the state
 * INITIAL in the source, the result may be true, because an import into ZITADEL can activate such a person.
 */
export function isActivated(source: string | undefined, zitadel: string | undefined): boolean {
  return zitadel?.endsWith('_STATE_ACTIVE') === true && !isClosed(source);
}

function becomesInitial(person: StoredDocument): boolean {
  return person.state !== INITIAL && importedState(person) === INITIAL;
}

function importedState(person: StoredDocument): string {
  return stateInZitadel(person.state, isAddressVerified(person.body), person.passwordHash !== undefined);
}

export function isAddressVerified(body: string | undefined): boolean {
  return valueAt(parseObject(body), ADDRESS_VERIFIED) === true;
}

function withHash(applies: (hash: string, releases: ReleaseRange) => boolean): NonNullable<ManualStep['applies']> {
  return ({ passwordHash }, releases) => passwordHash !== undefined && applies(passwordHash, releases);
}

const INITIAL_TEXT =
  'ZITADEL gives people without a password hash, or with an unverified e-mail address, the state INITIAL';

const states: readonly FieldFact[] = [
  {
    does: 'changes',
    fields: ['state'],
    text: INITIAL_TEXT,
    explains: ([other, zitadel]) => zitadel === INITIAL && !(typeof other === 'string' && isClosed(other)),
    steps: [
      {
        reason: 'people_become_initial',
        scope: 'file',
        ifWithout: 'withPasswords',
        because:
          'ZITADEL gives people without a password hash the state INITIAL, and imports their e-mail addresses as unverified',
        remedy: 'export with password hashes; otherwise these people must activate their users',
      },
      {
        reason: 'person_without_hash_becomes_initial',
        ifWith: 'withPasswords',
        because:
          'ZITADEL gives a person without a password hash the state INITIAL, and imports the e-mail address as unverified',
        remedy: 'the person must activate the user',
        applies: (person) => person.passwordHash === undefined && becomesInitial(person),
      },
      {
        reason: 'unverified_person_becomes_initial',
        because: 'ZITADEL gives a person with an unverified e-mail address the state INITIAL',
        remedy: 'verify the address. Even before, the session API of ZITADEL accepts the password',
        applies: (person) => person.passwordHash !== undefined && becomesInitial(person),
      },
    ],
  },
  { does: 'changes', fields: [ADDRESS_VERIFIED], text: INITIAL_TEXT },
  {
    does: 'changes',
    fields: ['state'],
    text: 'ZITADEL activates a person in the state INITIAL who has a password hash and a verified e-mail address',
    explains: ([other, zitadel]) => other === INITIAL && zitadel === ACTIVE,
    steps: [
      {
        reason: 'initial_person_activated',
        remedy: 'deactivate the user if the user must not be active',
        applies: (person) => person.state === INITIAL && importedState(person) === ACTIVE,
      },
    ],
  },
  ...userStates,
];

const FROM = describeReleases(refusingHashes);
const ZITADEL_SINCE = `ZITADEL (since ${refusingHashes.since})`;

/**
 * The texts about people whose password hash ZITADEL may refuse. `sent` applies if the command sends the hash, and
 * `omitted` if it omits the hash.
 */
export const refusedHash = {
  sent: `with a password hash because of which ${ZITADEL_SINCE} refuses the person`,
  omitted: `imported without the password hash, because of which ${ZITADEL_SINCE} would refuse the person: --accept refused-hashes`,
};

export const differingHash =
  'with another hash in the target: the password was changed, or a login has hashed the password again';

/** Returns the text about a person with a hash of this format; undefined if ZITADEL verifies the format by default. */
export function unverifiedHash(format: string): string | undefined {
  return isVerifiedByDefault(format) ? undefined : `with a hash that ZITADEL does not verify by default (${format})`;
}

const needsVerifier: ManualStep = {
  reason: 'hash_needs_verifier',
  applies: withHash((hash, releases) => optionalVerifier(hash, releases) !== undefined),
  remedy: 'add {verifier}',
  params: ({ passwordHash = '' }, releases) => ({ verifier: optionalVerifier(passwordHash, releases) }),
};
const hasNoVerifier = withHash((hash, releases) => verifierIn(hash, releases) === undefined);

const hashes: readonly FieldFact[] = [
  {
    does: 'refuses',
    ...releasesWithStates,
    releasesInText: true,
    fields: [HASH],
    text: `ZITADEL verifies this password hash, and ${FROM} imports the person, only if its ${SETTING} contains the verifier of the hash`,
    steps: [{ ...needsVerifier, reason: 'hash_refused_without_verifier' }],
  },
  {
    does: 'changes',
    ...releasesWithoutStates,
    ifKnown: true,
    fields: [HASH],
    text: `ZITADEL verifies this password hash only if its ${SETTING} contains the verifier of the hash`,
    explains: () => false,
    steps: [needsVerifier],
  },
  {
    does: 'refuses',
    ...releasesWithStates,
    releasesInText: true,
    fields: [HASH],
    text: `no release of ZITADEL verifies this password hash, and ${FROM} ZITADEL refuses the person`,
    steps: [
      {
        reason: 'hash_without_verifier_refused',
        remedy: 'import the person without the hash; the person must then set a new password',
        applies: hasNoVerifier,
      },
    ],
  },
  {
    does: 'changes',
    ...releasesWithoutStates,
    ifKnown: true,
    fields: [HASH],
    text: 'this release of ZITADEL cannot verify this password hash',
    explains: () => false,
    steps: [{ reason: 'hash_without_verifier', remedy: 'the person must set a new password', applies: hasNoVerifier }],
  },
  {
    does: 'refuses',
    ...refusingHashes,
    fields: [HASH],
    text: 'ZITADEL refuses the person, because the cost of the password hash is outside its limits',
    steps: [
      {
        reason: 'hash_cost_limited',
        remedy: "change the limits in ZITADEL's SystemDefaults.PasswordHasher, or import the person without the hash",
        applies: withHash((hash) => {
          const { verifier, isWithinBounds } = hashVerification(hash);
          return verifier !== undefined && !isWithinBounds;
        }),
      },
    ],
  },
];

export const peopleInZitadel: ZitadelBehaviour = {
  fields: [
    ...states,
    ...hashes,
    {
      does: 'imports not',
      fields: ['otpEmail'],
      text: 'ZITADEL does not import OTP e-mail factors',
      explains: (values, { isTarget }) => isTarget && isFalse(values),
      steps: [
        {
          reason: 'otp_email_not_imported',
          remedy: 'the person must add the factor again',
          applies: ({ otpEmail }) => otpEmail === true,
        },
      ],
    },
    {
      does: 'exports not',
      fields: ['otpEmail'],
      text: 'ZITADEL does not return OTP e-mail factors',
      explains: ([, zitadel], { isTarget }) => !isTarget && zitadel === undefined,
    },
    { ...unexported('user.passwordChangeRequired', 'user.requestPasswordlessRegistration'), explains: isFalse },
  ],
  missingProviders: rejectedLink,
  unexported: [OTHER_FACTORS],
};
