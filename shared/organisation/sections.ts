import type { Section } from './section.ts';
import { texts } from './sectionParts.ts';
import { actionSections } from './sections/actions.ts';
import { grantSections } from './sections/grants.ts';
import { identityProviderSections } from './sections/identityProviders.ts';
import { keySections } from './sections/keys.ts';
import { memberSections } from './sections/members.ts';
import { domainSection } from './sections/organisations.ts';
import { policySections } from './sections/policies.ts';
import { projectSections } from './sections/projects.ts';
import { userMetadataSection, userSections } from './sections/users.ts';

export { organisationSection } from './sections/organisations.ts';

/**
 * All other sections of the organisation document, in the order in which they are exported and written (contract 5.4).
 * Export and import walk this table; a new section is a new row in one of its parts.
 */
export const sections: readonly Section[] = [
  ...policySections,
  ...projectSections,
  ...userSections,
  ...actionSections,
  ...grantSections,
  ...memberSections,
  userMetadataSection,
  texts('loginTexts', 'login_texts'),
  texts('initMessages', 'init_message'),
  texts('passwordResetMessages', 'password_reset_message'),
  texts('verifyEmailMessages', 'verify_email_message'),
  texts('verifyPhoneMessages', 'verify_phone_message'),
  texts('domainClaimedMessages', 'domain_claimed_message'),
  texts('passwordlessRegistrationMessages', 'passwordless_registration_message'),
  ...identityProviderSections,
  domainSection,
  ...keySections,
  texts('verifySmsOtpMessages', 'verify_sms_otp_message'),
  texts('verifyEmailOtpMessages', 'verify_email_otp_message'),
  texts('inviteUserMessages', 'invite_user_messages'),
];

/**
 * The section of a name that the program itself chose.
 * @throws Error where the table has no such section
 */
export function sectionNamed(name: string): Section {
  const section = sections.find((row) => row.name === name);
  if (section === undefined) throw new Error(`there is no section ${name}`);
  return section;
}
