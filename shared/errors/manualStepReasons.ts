// Manual steps after an import of any file: their reasons, texts and remedies. The sections declare those in ZITADEL.

import type { IssueRow } from './issueText.ts';

/** The content of instances that no export has. */
export const INSTANCE_CONTENT = 'the policies, members, identity providers, texts and settings of the instance';

/** The factors of people that no export has. */
export const OTHER_FACTORS = 'passkeys, U2F factors, recovery codes and OTP by SMS';

/** The reasons of manual steps. Programs may depend on them; texts are for people, and change. */
export const manualSteps = {
  instance_not_exported: {
    text: `${INSTANCE_CONTENT} are in no export`,
    remedy: 'configure the target like the source',
  },
  secrets_missing: { text: 'the export has no {secrets}', remedy: '{include}, or {otherwise}' },
  // The call has selected the secrets, and the source has none.
  secrets_not_in_source: { text: 'the export has no {secrets}', remedy: '{otherwise}' },
  factors_not_exported: {
    text: `${OTHER_FACTORS} are not carried`,
    remedy: 'people must register or create them again',
  },
  tokens_not_exported: {
    text: 'personal access tokens are in no export',
    remedy: 'create new ones in the target',
  },
  client_secret_missing: {
    text: 'the export has no client secret of this identity provider',
    remedy: 'enter it in the target',
  },
  organisations_missing: {
    text: 'the file does not contain organisations to which this record refers',
    remedy: 'import these before this file',
  },
  providers_missing: {
    text: 'the export does not contain these identity providers',
    remedy: 'create them with these ids',
  },
} as const satisfies Record<string, IssueRow>;
