// The manual steps that an import into any target can leave: reasons, texts and remedies. Further steps of imports into
// ZITADEL are declared in the sections.

import type { IssueRow } from './issueText.ts';

export const INSTANCE_CONTENT = 'the policies, members, identity providers, texts and settings of the instance';

export const OTHER_FACTORS = 'passkeys, U2F factors, recovery codes and OTP by SMS';

const newPasswords = 'people without a password hash must set new passwords';
const addAgain = 'people who used these factors must add them again';
const createKeys = 'create the keys again in the target';

/**
 * Returns the manual step about a file without some secrets. To get the secrets, the user can export again, or follow
 * `otherwise`.
 * @param otherwise a remedy that needs no second export
 * @param overwrites true if an import of the second file must overwrite people, because they already exist then
 */
function missing(secrets: string, kind: 'passwords' | 'otp' | 'keys', otherwise: string, overwrites = false): IssueRow {
  const overwrite = (option: string) => (overwrites ? ` and overwrite existing people (${option})` : '');
  return {
    text: `the export has no ${secrets}`,
    remedy: {
      http: `include these secrets (\`with_${kind}\`)${overwrite('`on_conflict`')}, or ${otherwise}`,
      command: `include these secrets (--with ${kind})${overwrite('--on-conflict overwrite')}, or ${otherwise}`,
    },
  };
}

/** Returns whether a manual step remains because the source does not have the secrets that the user requested. */
export function isNotInSource(reason: string | undefined): boolean {
  return reason?.endsWith('_not_in_source') === true;
}

/**
 * The manual steps. The keys are the reasons. Programs may rely on the reasons, but not on the texts, which can change.
 */
export const manualSteps = {
  instance_not_exported: {
    text: `no export contains ${INSTANCE_CONTENT}`,
    remedy: 'configure the target like the source',
  },
  passwords_missing: missing('password hashes', 'passwords', newPasswords, true),
  passwords_not_in_source: { text: 'the export has no password hashes', remedy: newPasswords },
  otp_missing: missing('TOTP seeds and OTP e-mail factors', 'otp', addAgain, true),
  otp_not_in_source: { text: 'the export has no TOTP seeds and OTP e-mail factors', remedy: addAgain },
  totp_seeds_missing: missing('TOTP seeds', 'otp', addAgain),
  totp_seeds_not_in_source: { text: 'the export has no TOTP seeds', remedy: addAgain },
  machine_keys_missing: missing('machine keys', 'keys', createKeys),
  machine_keys_not_in_source: { text: 'the export has no machine keys', remedy: createKeys },
  app_keys_missing: missing('application keys', 'keys', createKeys),
  app_keys_not_in_source: { text: 'the export has no application keys', remedy: createKeys },
  factors_not_exported: {
    text: `no export contains ${OTHER_FACTORS}`,
    remedy: 'people must register or create these factors again',
  },
  tokens_not_exported: {
    text: 'no export contains personal access tokens',
    remedy: 'create the tokens again in the target',
  },
  client_secret_missing: {
    text: 'the export has no client secret of this identity provider',
    remedy: 'enter the client secret in the target',
  },
  organisations_missing: {
    text: 'the file does not contain organisations to which this record refers',
    remedy: 'import {organisations} before this file',
  },
  providers_missing: {
    text: 'the export does not contain all identity providers to which this record refers',
    remedy: 'import {providers} with these ids',
  },
} as const satisfies Record<string, IssueRow>;
