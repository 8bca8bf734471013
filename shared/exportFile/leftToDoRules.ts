// The rules for the manual steps after an import.

import type { WarningReason } from '../errors/warnings.ts';
import { parseObject, valueAt } from '../json/jsonObject.ts';
import { hashVerification, optionalVerifier, SETTING } from '../organisation/passwordHashes.ts';
import { type Section, type SectionName, usualState } from '../organisation/section.ts';
import { sections } from '../organisation/sections.ts';
import type { StoredDocument } from '../store/store.ts';

/** The content and the reader of a file. */
export interface FileContent {
  readonly withPasswords: boolean;
  readonly withOtp: boolean;
  readonly withKeys: boolean;
  /** Whether the file is for ZITADEL. */
  readonly forZitadel: boolean;
  /** Whether the ZITADEL imports states; absent if its release is unknown. */
  readonly importsStates?: boolean;
  /** Whether this command sends the file to the ZITADEL: it reads the responses, and closes what the file has as closed. */
  readonly inSteps?: boolean;
  /** The selected secrets: the source has none of those that the file lacks. */
  readonly asked?: Readonly<Record<SecretField, boolean>>;
}

type SecretField = 'withPasswords' | 'withOtp' | 'withKeys';

/** Something to do by hand after an import of a file. */
export interface LeftToDoRule {
  /** The names of the sections whose records make it necessary. */
  readonly sections: readonly SectionName[];
  /** The subject of an entry: one section of an organisation, or the whole file; by default one record. */
  readonly scope?: 'organisation' | 'file';
  readonly message: string;
  /** The reason of the warning that an import into a ZITADEL gives; by default `left_to_do`. */
  readonly reason?: WarningReason;
  /** The secrets that the file lacks, and the message if the call has selected them, because the source has none then. */
  readonly lacks?: { readonly field: SecretField; readonly message: string };
  /** Whether the file's content makes it necessary; by default always. */
  readonly when?: ((content: FileContent) => boolean) | undefined;
  /** Whether it concerns only organisations whose domain policy does not validate domains. */
  readonly unlessValidated?: true;
  /** Whether a record makes it necessary; by default every one. */
  readonly applies?: (document: StoredDocument) => boolean;
  /** Returns the end of the message for a record. */
  readonly details?: (document: StoredDocument) => readonly string[];
}

const forZitadel = (content: FileContent) => content.forZitadel;
/** Whether a ZITADEL imports no states: releases 2 and 3, which take every hash and application. */
const isOlderThan4 = ({ importsStates }: FileContent) => importsStates === false;
const mayBeOf2026 = (content: FileContent) => !isOlderThan4(content);
const byHand = ({ inSteps }: FileContent) => inSteps !== true;

function ofFile(sections: readonly SectionName[], message: string, when?: LeftToDoRule['when']): LeftToDoRule {
  return { sections, scope: 'file', message, when };
}

/**
 * Creates the rule for a file without some secrets: export again with them, or the other remedy.
 * @param overwrites whether existing people get them only by an overwrite, which ZITADEL does not have
 */
function ofLacking(
  sections: readonly SectionName[],
  field: SecretField,
  what: string,
  otherwise: string,
  overwrites = false,
): LeftToDoRule {
  const start = `the export has no ${what}: `;
  const secret = field.replace('with', '').toLowerCase();
  const overwrite = overwrites ? ', overwrite people who exist (`on_conflict`, or --on-conflict overwrite)' : '';
  const message = `${start}include them (\`with_${secret}\`, or --with ${secret})${overwrite}, or ${otherwise}`;
  const when = (content: FileContent) => !(content[field] || (overwrites && content.forZitadel));
  return { ...ofFile(sections, message, when), lacks: { field, message: `${start}${otherwise}` } };
}

function ofHash(message: string, applies: (hash: string) => boolean, when: LeftToDoRule['when']): LeftToDoRule {
  const isOne = ({ passwordHash }: StoredDocument) => passwordHash !== undefined && applies(passwordHash);
  return { sections: ['humanUsers'], message, when, applies: isOne };
}

function ofOptionalVerifier(message: string, when: LeftToDoRule['when']): LeftToDoRule {
  return {
    ...ofHash(message, (hash) => optionalVerifier(hash) !== undefined, when),
    details: ({ passwordHash = '' }) => [optionalVerifier(passwordHash) ?? ''],
  };
}

function hasNoVerifier(hash: string): boolean {
  return hashVerification(hash).verifier === undefined;
}

/** The rules for every target (specification 8.4). */
const forEveryTarget: readonly LeftToDoRule[] = [
  ofFile(
    ['org'],
    'the policies, members, identity providers and factors of the instance are in no export: configure the target like the source',
  ),
  ofLacking(['humanUsers'], 'withPasswords', 'password hashes', 'people who lack them must set new passwords', true),
  ofLacking(
    ['humanUsers'],
    'withOtp',
    'TOTP seeds and OTP e-mail factors',
    'people who lack them must add them again',
    true,
  ),
  ofFile(
    ['humanUsers'],
    'passkeys, U2F factors and recovery codes are not carried: people must register or create them again',
  ),
  ofFile(['machineUsers'], 'personal access tokens are in no export: create new ones in the target'),
  ofLacking(['machineUsers'], 'withKeys', 'machine keys', 'create new ones in the target'),
  ofLacking(['apiApps', 'oidcApps'], 'withKeys', 'application keys', 'create new ones in the target'),
  {
    sections: ['oidcIdps'],
    message: 'the export has no client secret of this identity provider: enter it in the target',
    when: (content) => !content.forZitadel,
    applies: ({ clientSecret }) => clientSecret === undefined,
  },
];

/** The sections whose records have states in ZITADEL's files from release 4 on. */
const stateSections: readonly SectionName[] = ['org', 'humanUsers', 'machineUsers'];
const keptStates = new Set(['USER_STATE_ACTIVE', 'USER_STATE_INACTIVE', 'USER_STATE_LOCKED', 'USER_STATE_INITIAL']);

/** The sections whose records ZITADEL activates when it imports them. */
const activatedSections: readonly SectionName[] = namesOf((section) => usualState(section) !== undefined);

/** The sections that ZITADEL accepts in an import, and drops. */
export const droppedSections: readonly SectionName[] = namesOf(({ zitadelStep }) => zitadelStep === 'dropped');

function namesOf(isWanted: (section: Section) => boolean): readonly SectionName[] {
  return sections.filter(isWanted).map(({ name }) => name);
}

/** The rules for the differences of an import into a ZITADEL (zitadel 9). */
const forTargetZitadel: readonly LeftToDoRule[] = [
  ofFile(
    ['org'],
    'ZITADEL makes the caller ORG_OWNER of every organisation that it creates: remove these memberships after the import',
  ),
  ofFile(
    ['org'],
    'ZITADEL lists organisations with a second entry (ORG-lapo2n) and verified domains (V2-e1wse, V3-DKcYh) in `errors`, and imports them nevertheless',
    byHand,
  ),
  ofFile(
    ['apiApps', 'oidcApps'],
    'ZITADEL gives applications new client ids and client secrets: configure the applications with them',
  ),
  {
    sections: ['oidcApps'],
    message:
      'a ZITADEL of July 2026 refuses an application whose `backChannelLogoutUri` has an unknown or a private host: change its HTTPClient.DenyList, or import the application without this field',
    when: mayBeOf2026,
    applies: ({ body }) => valueAt(parseObject(body), 'app.backChannelLogoutUri') !== undefined,
  },
  {
    sections: ['oidcIdps'],
    message:
      'ZITADEL rejects an identity provider without client secret, and the whole request: export with password hashes, or write `clientSecret` into the file',
    applies: ({ clientSecret }) => clientSecret === undefined,
  },
  ofFile(
    ['humanUsers'],
    'ZITADEL makes people without password hash initial, with an unverified e-mail address: export with password hashes, or they must activate their users',
    ({ withPasswords }) => !withPasswords,
  ),
  ofLacking(['humanUsers'], 'withOtp', 'TOTP seeds', 'people who lack them must add them again'),
  {
    sections: ['humanUsers'],
    message:
      'ZITADEL makes a person without password hash initial, with an unverified e-mail address: the person must activate the user',
    when: ({ withPasswords }) => withPasswords,
    applies: ({ passwordHash, state }) =>
      passwordHash === undefined && state !== 'USER_STATE_INITIAL' && !isClosed(state),
  },
  {
    sections: ['humanUsers'],
    message:
      'ZITADEL makes a person with an unverified e-mail address initial: its session API accepts the password nevertheless; verify the address',
    applies: (person) =>
      person.passwordHash !== undefined &&
      person.state !== 'USER_STATE_INITIAL' &&
      !isClosed(person.state) &&
      !isEmailVerified(person),
  },
  {
    sections: ['humanUsers'],
    message:
      'ZITADEL activates an initial person with password hash and verified e-mail address: deactivate the user if that is not wanted',
    applies: (person) =>
      person.passwordHash !== undefined && person.state === 'USER_STATE_INITIAL' && isEmailVerified(person),
  },
  {
    sections: ['humanUsers', 'machineUsers'],
    message: 'ZITADEL does not import this state: deactivate the user after the import',
    when: byHand,
    applies: ({ state }) => state !== undefined && !keptStates.has(state),
  },
  {
    ...ofFile(
      stateSections,
      'ZITADEL 2 and 3 import no states: deactivate or lock there, after the import, what is not active here',
      byHand,
    ),
    applies: ({ state }) => isClosed(state),
  },
  ofOptionalVerifier(
    `ZITADEL verifies this password hash, and from June 2026 on takes the person, only where its ${SETTING} has this verifier`,
    mayBeOf2026,
  ),
  ofOptionalVerifier(`ZITADEL verifies this password hash only where its ${SETTING} has this verifier`, isOlderThan4),
  ofHash(
    'no ZITADEL verifies this password hash, and from June 2026 on it refuses the person: import the person without the hash, who must then set a new password',
    hasNoVerifier,
    mayBeOf2026,
  ),
  ofHash('no ZITADEL verifies this password hash: the person must set a new password', hasNoVerifier, isOlderThan4),
  ofHash(
    'from June 2026 on, ZITADEL refuses a person whose password hash has such a cost: change the limits in its SystemDefaults.PasswordHasher, or import the person without the hash',
    (hash) => {
      const { verifier, isWithinBounds } = hashVerification(hash);
      return verifier !== undefined && !isWithinBounds;
    },
    mayBeOf2026,
  ),
  {
    sections: ['humanUsers'],
    message: 'ZITADEL does not import OTP e-mail factors: the person must add it again',
    applies: ({ otpEmail }) => otpEmail === true,
  },
  {
    sections: activatedSections,
    message: 'ZITADEL activates this record: deactivate it after the import',
    when: byHand,
    applies: ({ state }) => state?.endsWith('_INACTIVE') === true,
  },
  {
    sections: ['domains'],
    message: 'ZITADEL verifies this unverified domain: remove it after the import if that is not wanted',
    unlessValidated: true,
    applies: (document) => !isVerified(document),
  },
  {
    sections: ['domains'],
    message:
      'ZITADEL does not import how this domain was verified (`validationType`): verify it there if the way matters',
    applies: ({ body }) => parseObject(body).validationType !== undefined,
  },
  {
    sections: namesOf(({ zitadelStep }) => zitadelStep === 'message texts'),
    scope: 'organisation',
    message:
      "ZITADEL writes message texts to the caller's organisation: import them once more with the header `x-zitadel-orgid`, which REST ignores unless the id is printable ASCII, and remove them there",
    when: byHand,
  },
  {
    sections: droppedSections,
    scope: 'organisation',
    message: 'ZITADEL does not import these texts: enter them in the target',
  },
];

/** All rules that depend on a record alone, in the order of the entries. */
export const leftToDoRules: readonly LeftToDoRule[] = [
  ...forEveryTarget,
  ...forTargetZitadel.map((rule) => ({
    ...rule,
    when: (content: FileContent) => forZitadel(content) && (rule.when?.(content) ?? true),
  })),
];

const recordRule = (message: string): LeftToDoRule => ({ sections: [], message });
const providersToCreate = recordRule(
  'create the identity providers, which the export does not contain, with these ids',
);
const providersLeftOut = recordRule(
  'create the identity providers, which the export does not contain, and add them to this login policy, which names them no longer',
);
const linksRefused = recordRule(
  'ZITADEL rejects this link, because the export does not contain its identity provider: create the provider, then link the person',
);

/** The rule for a record that refers to organisations which are not in the file, or to their projects. */
export const omittedOrganisations = recordRule(
  'import the organisations to which this record refers, and which the file does not contain, before this file',
);

/** The rule for a record whose name or key differs from another record's by case only. */
export const equalButForCase = recordRule(
  'ZITADEL does not distinguish this record from one whose name or key differs by case only: it is not imported, create it under another name',
);

/** The rule for the texts of invitations, which ZITADEL takes only beside those of passwordless registration. */
export const invitationsAlone: LeftToDoRule = {
  sections: [],
  scope: 'organisation',
  message:
    'ZITADEL imports texts of invitations only where the organisation has texts of passwordless registration: enter them in the target',
};

/** Returns the rule for a record whose identity providers are not in the file. */
export function missingProviders({ exported }: Section, content: FileContent): LeftToDoRule {
  if (!content.forZitadel) return providersToCreate;
  return exported?.keepProviders === undefined ? linksRefused : providersLeftOut;
}

/** Whether a record in a state has no access, or is switched off. An initial person gets access by a code. */
export function isClosed(state: string | undefined): boolean {
  return state !== undefined && state !== '' && !/_STATE_(?:ACTIVE|INITIAL)$/.test(state);
}

function isEmailVerified({ body }: StoredDocument): boolean {
  return valueAt(parseObject(body), 'user.email.isEmailVerified') === true;
}

function isVerified({ body }: StoredDocument): boolean {
  return parseObject(body).isVerified === true;
}
