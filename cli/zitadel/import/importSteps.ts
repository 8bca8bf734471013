/** A step of an import into a ZITADEL: some sections of all organisations, before those of the next step. */
export interface ImportStep {
  readonly name: string;
  readonly sections: readonly string[];
  readonly createsOrganisations?: true;
  /** Whether each request holds one organisation only, and is handled in its context. */
  readonly inContext?: true;
}

/**
 * The steps in an order in which each record's references exist. ZITADEL neither sorts nor tries again (zitadel 5.4).
 * Texts follow by themselves: it writes them to the organisation in whose context it handles the request.
 */
export const importSteps: readonly ImportStep[] = [
  {
    name: 'organisations',
    sections: ['domainPolicy', 'domains', 'labelPolicy', 'lockoutPolicy', 'passwordComplexityPolicy', 'privacyPolicy'],
    createsOrganisations: true,
  },
  { name: 'identity providers', sections: ['oidcIdps', 'jwtIdps'] },
  { name: 'login policies', sections: ['loginPolicy'] },
  { name: 'people', sections: ['humanUsers'] },
  { name: 'service users', sections: ['machineUsers'] },
  { name: 'metadata, links and keys of users', sections: ['userMetadata', 'userLinks', 'machineKeys'] },
  { name: 'projects', sections: ['projects'] },
  { name: 'roles', sections: ['projectRoles'] },
  { name: 'applications', sections: ['oidcApps', 'apiApps'] },
  { name: 'keys of applications', sections: ['appKeys'] },
  { name: 'actions', sections: ['actions'] },
  { name: 'flows', sections: ['triggerActions'] },
  { name: 'project grants', sections: ['projectGrants'] },
  { name: 'user grants', sections: ['userGrants'] },
  { name: 'members', sections: ['orgMembers', 'projectMembers', 'projectGrantMembers'] },
  { name: 'login texts', sections: ['loginTexts'] },
  {
    name: 'texts of messages',
    sections: [
      'initMessages',
      'passwordResetMessages',
      'verifyEmailMessages',
      'domainClaimedMessages',
      'passwordlessRegistrationMessages',
      'inviteUserMessages',
    ],
    inContext: true,
  },
];

/** What a ZITADEL does otherwise with every import, as a migration's plan says it beside what is left to do. */
export const importChanges: readonly string[] = [
  'it never overwrites a record: those that exist stay as they are',
  'it refuses ids that another of its organisations has, or a deleted one had, which no plan shows: import them under new ids, or into another instance',
  'it does not distinguish role keys and application names by case',
  'it verifies each domain, also unverified ones, and adds a domain of its own to each organisation',
  'it shows what it imported up to 2 s later',
];
