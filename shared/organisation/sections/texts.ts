// The sections of texts.

import { isJsonObject, type JsonObject } from '../../json/jsonObject.ts';
import type { Section, SectionName } from '../section.ts';
import { textLanguage } from '../valueRules.ts';

/**
 * Creates a section of texts, with one record for each language. The error id is ours: ZITADEL replaces texts at each
 * import and has no error for them.
 */
function texts(
  name: SectionName,
  type: string,
  zitadelStep: Section['zitadelStep'],
  exported?: Section['exported'],
): Section {
  return {
    name,
    collection: 'texts',
    phase: 1,
    zitadelStep,
    key: ['$orgId', `=${name}`, 'language'],
    values: { language: textLanguage },
    ...(exported === undefined ? {} : { exported }),
    check: (text) => (hasNoText(text) ? 'notCarried' : undefined),
    error: {
      type,
      id: ['$orgId', 'language'],
      exists: { id: 'IMPORT-textExists', key: 'Errors.CustomText.AlreadyExists' },
    },
  };
}

/** The sections of texts. */
export const textSections: readonly Section[] = [
  texts('loginTexts', 'login_texts', 'login texts', { withoutFilled: withoutEmptyScreens }),
  texts('initMessages', 'init_message', 'message texts'),
  texts('passwordResetMessages', 'password_reset_message', 'message texts'),
  texts('verifyEmailMessages', 'verify_email_message', 'message texts'),
  texts('verifyPhoneMessages', 'verify_phone_message', 'dropped'),
  texts('domainClaimedMessages', 'domain_claimed_message', 'message texts'),
  texts('passwordlessRegistrationMessages', 'passwordless_registration_message', 'message texts'),
];

/** The sections of texts that ZITADEL added later, at the end of the document. */
export const laterTextSections: readonly Section[] = [
  texts('verifySmsOtpMessages', 'verify_sms_otp_message', 'dropped'),
  texts('verifyEmailOtpMessages', 'verify_email_otp_message', 'dropped'),
  texts('inviteUserMessages', 'invite_user_messages', 'message texts'),
];

/** Removes the screens without texts: ZITADEL exports all. */
function withoutEmptyScreens(texts: JsonObject): JsonObject {
  const isEmpty = (screen: unknown) => isJsonObject(screen) && Object.keys(screen).length === 0;
  return Object.fromEntries(Object.entries(texts).filter(([, screen]) => !isEmpty(screen)));
}

/** Whether a record of texts has nothing but its language. */
export function hasNoText({ language: _, ...content }: JsonObject): boolean {
  return isBlank(content);
}

function isBlank(value: unknown): boolean {
  return isJsonObject(value) ? Object.values(value).every(isBlank) : value === undefined || value === '';
}
