// Words for records and secrets in texts for people.

/** The words that cannot be derived from the name of the section, record type or kind of secret. */
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

/** Returns the words for a section's records, or for a kind of secret, such as `project roles` for `projectRoles`. */
export function words(name: string): string {
  return nouns.get(name) ?? name.replace(/_|(?=[A-Z])/g, ' ').toLowerCase();
}

/**
 * Returns the words for a single record of a section or of an error type: `person` for `humanUsers` and `human_user`.
 */
export function recordNoun(name: string): string {
  const noun = words(name);
  return noun === 'people' ? 'person' : noun.replace(/s$/, '');
}

/** Returns the noun for a record with its article: `an application`. */
export function withArticle(noun: string): string {
  return `${/^(?!user)[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** Returns the word for a state such as `USER_STATE_LOCKED`: `locked`. */
export function stateWord(state: string): string {
  return state.replace(/^.*_STATE_/, '').toLowerCase();
}
