/** What every export of a ZITADEL leaves out or changes (zitadel 9), as a migration's plan says it. */
export const exportLosses: readonly string[] = [
  'the policies, members, identity providers, texts and settings of the instance, and the metadata of organisations',
  'notification policies, password age policies, and of login policies `allowDomainDiscovery`, `disableLoginWithEmail` and `disableLoginWithPhone`',
  'the theme mode, logos, icons and fonts of label policies',
  'identity providers other than OIDC and JWT of the older kind: links of people to them are exported, and work once the target has the provider',
  'SAML applications, the client ids and client secrets of all applications, `backChannelLogoutUri` and `loginVersion`',
  'passkeys, U2F factors, OTP by SMS and by e-mail, and whether a person must change the password',
  'personal access tokens and secrets of service users, and the type of their access tokens',
  'flows other than external and internal authentication, and the texts of invitations',
  'the states of projects, applications and actions: inactive ones are exported as if active',
  'the texts of passwordless registration: those of claimed domains are exported under their name',
  'sessions: each person logs in once after the migration',
];
