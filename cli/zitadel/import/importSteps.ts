/**
 * The sections that each step of an import into a ZITADEL sends, of all organisations, before those of the next step: in an
 * order in which each record's references exist. ZITADEL neither sorts nor tries again (zitadel 5.4).
 */
export const importSteps: readonly (readonly string[])[] = [
  ['org'],
  ['domainPolicy', 'domains', 'labelPolicy', 'lockoutPolicy', 'passwordComplexityPolicy', 'privacyPolicy'],
  ['oidcIdps', 'jwtIdps'],
  ['loginPolicy'],
  ['humanUsers'],
  ['machineUsers'],
  ['userMetadata', 'userLinks', 'machineKeys'],
  ['projects'],
  ['projectRoles'],
  ['oidcApps', 'apiApps'],
  ['appKeys'],
  ['actions'],
  ['triggerActions'],
  ['projectGrants'],
  ['userGrants'],
  ['orgMembers', 'projectMembers', 'projectGrantMembers'],
  ['loginTexts'],
  [
    'initMessages',
    'passwordResetMessages',
    'verifyEmailMessages',
    'domainClaimedMessages',
    'passwordlessRegistrationMessages',
    'inviteUserMessages',
  ],
];

const positions = new Map(importSteps.flatMap((sections, step) => sections.map((name) => [name, step])));

/** Returns the step that sends a section; undefined for a section that ZITADEL does not take. */
export function stepOf(section: string): number | undefined {
  return positions.get(section);
}

/** The texts of messages, which ZITADEL writes to the organisation in whose context it handles the request. */
export const stepInContext = stepOf('initMessages');

/** What a ZITADEL does otherwise with every import, as a migration's plan says it beside what is left to do. */
export const importChanges: readonly string[] = [
  'it never overwrites a record: those that exist stay as they are',
  'it refuses ids that another of its organisations has, or a deleted one had, which no plan shows: import them under new ids, or into another instance',
  'it does not distinguish role keys and application names by case',
  'it verifies each domain, also unverified ones, and adds a domain of its own to each organisation',
  'it shows what it imported up to 2 s later',
];
