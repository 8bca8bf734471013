/** Nouns that the code cannot derive from the name of a section, record type or kind of secret. */
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

/**
 * Returns the plural noun for a section's records or for a kind of secret, such as `project roles` for `projectRoles`.
 */
export function words(name: string): string {
  return nouns.get(name) ?? name.replace(/_|(?=[A-Z])/g, ' ').toLowerCase();
}

/**
 * Returns the singular noun for a section or for the record type in an error: `person` for `humanUsers` and for
 * `human_user`.
 */
export function recordNoun(name: string): string {
  const noun = words(name);
  return noun === 'people' ? 'person' : noun.replace(/s$/, '');
}

export function withArticle(noun: string): string {
  return `${/^(?!user)[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

export function stateWord(state: string): string {
  return state.replace(/^.*_STATE_/, '').toLowerCase();
}
