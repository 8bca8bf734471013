// The words for records and secrets in texts.

/** What people call records and secrets, where their section, type or kind has another name. */
const nouns: ReadonlyMap<string, string> = new Map([
  ['org', 'organisations'],
  ['humanUsers', 'people'],
  ['human_user', 'person'],
  ['human_user_otp', 'TOTP seed'],
  ['machineUsers', 'service users'],
  ['machine_user', 'service user'],
  ['machine_user_key', 'machine key'],
  ['state', 'records'],
  ['totpSeeds', 'TOTP seeds'],
  ['otpEmailFactors', 'OTP e-mail factors'],
]);

/** Returns what people call records of a section, or a kind of secrets: `project roles` for `projectRoles`. */
export function words(name: string): string {
  return nouns.get(name) ?? name.replace(/_|(?=[A-Z])/g, ' ').toLowerCase();
}

/** Returns what people call one record of a section, or of a type of errors: `person` for `humanUsers` and `human_user`. */
export function recordNoun(name: string): string {
  const noun = words(name);
  return noun === 'people' ? 'person' : noun.replace(/s$/, '');
}
