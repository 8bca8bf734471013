import { isJsonObject, type JsonObject } from '../../json/jsonObject.ts';
import { textLanguage } from '../valueRules.ts';
import { type RecordFact, unexported, type ZitadelBehaviour } from '../zitadelFacts.ts';
import type { Section, SectionName } from './section.ts';

/**
 * The fact that ZITADEL does not import a record in which all texts are empty. This service does not import such a
 * record either.
 */
const contentless: RecordFact = {
  does: 'imports not',
  text: 'ZITADEL does not import texts without content',
  when: ({ json }) => hasNoText(json),
};

const dropped: RecordFact = {
  does: 'imports not',
  text: 'ZITADEL does not import these texts',
  steps: [{ reason: 'texts_not_imported', scope: 'organisation', remedy: 'enter the texts in the target' }],
};

const writtenElsewhere: RecordFact = {
  does: 'also',
  text: "ZITADEL writes message texts to the caller's organisation",
  steps: [
    {
      reason: 'texts_written_elsewhere',
      scope: 'organisation',
      byHand: true,
      remedy:
        'import the texts again with the header `x-zitadel-orgid` (ZITADEL’s REST API ignores the header unless the id is printable ASCII); then remove the texts from the caller’s organisation',
    },
  ],
};

const byStep: Partial<Record<Section['zitadelStep'], readonly RecordFact[]>> = {
  'message texts': [writtenElsewhere],
  dropped: [dropped],
};

/**
 * Creates a section of texts, which has one record for each language. If texts exist already, a ZITADEL import replaces
 * them without an error. So ZITADEL has no id for this error, and this service defines one.
 */
function texts(
  name: SectionName,
  type: string,
  zitadelStep: Section['zitadelStep'],
  { zitadel, ...others }: Pick<Section, 'additional' | 'exported' | 'zitadel'> = {},
): Section {
  return {
    name,
    collection: 'texts',
    phase: 1,
    zitadelStep,
    key: ['$orgId', `=${name}`, 'language'],
    values: { language: textLanguage },
    ...others,
    zitadel: { ...zitadel, records: [contentless, ...(byStep[zitadelStep] ?? []), ...(zitadel?.records ?? [])] },
    check: (text) => (hasNoText(text) ? 'notCarried' : undefined),
    error: {
      type,
      id: ['$orgId', 'language'],
      exists: { id: 'IMPORT-textExists', key: 'Errors.CustomText.AlreadyExists' },
    },
  };
}

const passwordless: ZitadelBehaviour = {
  records: [
    {
      does: 'changes',
      text: 'ZITADEL exports the texts of claimed domains in place of the texts of passwordless registration',
    },
  ],
  unexported: [
    'all texts: the export contains the texts of claimed domains in their place; correct the texts in the target',
  ],
  exportsPartly: true,
};

const invitations: ZitadelBehaviour = {
  records: [
    {
      does: 'imports not',
      text: 'ZITADEL imports texts of invitations only if the organisation has texts of passwordless registration',
      dependsOnFile: true,
      when: ({ orgId }, file) => !file.hasPasswordlessTexts(orgId),
      steps: [{ reason: 'invitations_not_imported', scope: 'organisation', remedy: 'enter the texts in the target' }],
    },
    {
      does: 'exports not',
      text: 'no export of ZITADEL contains the texts of invitations',
    },
  ],
  unexported: ['all texts'],
  exportsPartly: true,
};

export const textSections: readonly Section[] = [
  texts('loginTexts', 'login_texts', 'login texts', {
    exported: { withoutFilled: withoutEmptyScreens },
    zitadel: { fields: [unexported('linkingUserPromptText')] },
  }),
  texts('initMessages', 'init_message', 'message texts'),
  texts('passwordResetMessages', 'password_reset_message', 'message texts'),
  texts('verifyEmailMessages', 'verify_email_message', 'message texts'),
  texts('verifyPhoneMessages', 'verify_phone_message', 'dropped'),
  texts('domainClaimedMessages', 'domain_claimed_message', 'message texts', { zitadel: { exportsPartly: true } }),
  texts('passwordlessRegistrationMessages', 'passwordless_registration_message', 'message texts', {
    zitadel: passwordless,
  }),
];

/**
 * The sections of texts that ZITADEL added in later releases. In the organisation document, they come after all other
 * sections.
 */
export const laterTextSections: readonly Section[] = [
  texts('verifySmsOtpMessages', 'verify_sms_otp_message', 'dropped'),
  texts('verifyEmailOtpMessages', 'verify_email_otp_message', 'dropped'),
  texts('inviteUserMessages', 'invite_user_messages', 'message texts', { zitadel: invitations }),
];

/**
 * Removes the screens that have no texts from a record, so that it can be compared with a record from ZITADEL, whose
 * exports contain all screens.
 */
function withoutEmptyScreens(texts: JsonObject): JsonObject {
  const isEmpty = (screen: unknown) => isJsonObject(screen) && Object.keys(screen).length === 0;
  return Object.fromEntries(Object.entries(texts).filter(([, screen]) => !isEmpty(screen)));
}

function hasNoText({ language: _, ...content }: JsonObject): boolean {
  return isBlank(content);
}

function isBlank(value: unknown): boolean {
  return isJsonObject(value) ? Object.values(value).every(isBlank) : value === undefined || value === '';
}
