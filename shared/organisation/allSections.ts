import type { StoredDocument } from '../store/store.ts';
import type { RecordIssue } from './relations.ts';
import { actionSections } from './sections/actions.ts';
import { domainSection } from './sections/domains.ts';
import { grantSections } from './sections/grants.ts';
import { identityProviderSections } from './sections/identityProviders.ts';
import { keySections } from './sections/keys.ts';
import { memberSections } from './sections/members.ts';
import { policySections } from './sections/policies.ts';
import { projectSections } from './sections/projects.ts';
import { isInSection, type Section } from './sections/section.ts';
import { stateless } from './sections/sectionStates.ts';
import { taken } from './sections/sharedReferences.ts';
import { laterTextSections, textSections } from './sections/texts.ts';
import { humanUserSection, machineUserSection, userMetadataSection } from './sections/users.ts';
import { trimmedText } from './valueRules.ts';

/** The issue of an organisation that exists already, if the import would have to change its state. */
export const organisationState: RecordIssue = { id: 'IMPORT-orgState', key: 'Errors.Org.State' };

/**
 * The issue of an organisation that does not exist yet, if the import cannot create it because the file does not
 * contain a name.
 */
export const organisationUnnamed: RecordIssue = { id: 'COMM-deLSk', key: 'Errors.Org.Invalid' };

export const organisationNameTaken = taken('Errors.Org.AlreadyExists');

/**
 * The section of the organisation's own record, which the fields `org` and `orgState` of the file contain. Imports
 * write this record before the records of all other sections.
 */
export const organisationSection: Section = {
  name: 'org',
  collection: 'organisations',
  phase: 1,
  zitadelStep: 'organisations',
  key: ['$orgId'],
  canonicalise: (json) => {
    json.orgState ??= 'ORG_STATE_ACTIVE';
  },
  values: { 'org.name': trimmedText(organisationUnnamed) },
  unique: [{ type: 'organisation', parts: ['org.name'], taken: organisationNameTaken, lookAlikes: true }],
  zitadel: {
    fields: [stateless],
    records: [
      {
        does: 'also',
        text: 'ZITADEL makes the caller ORG_OWNER of every organisation that it creates',
        steps: [{ reason: 'caller_becomes_owner', scope: 'file', remedy: 'remove these memberships after the import' }],
      },
      {
        does: 'also',
        text: 'ZITADEL imports organisations that have a second entry in the file (ORG-lapo2n) and verified domains (V2-e1wse, V3-DKcYh), but lists them in `errors`',
        steps: [{ reason: 'errors_without_effect', scope: 'file', byHand: true, remedy: 'ignore these errors' }],
      },
    ],
    unexported: [
      'their metadata',
      'notification policies and password age policies',
      'identity providers other than OIDC and JWT of the older kind (the export contains the links of people to these providers; a link works as soon as the target has the provider)',
      'SAML applications',
      'the message texts about changed passwords, and the translations of the hosted login',
    ],
  },
  error: {
    type: 'org',
    id: ['$orgId'],
    exists: { id: 'ORG-lapo2n', key: 'Errors.Org.AlreadyExisting' },
    existsToo: [{ id: 'ORG-lapo2m', release: '2' }],
  },
};

/** The store keeps organisations in this partition after their removal has begun. Exports omit these organisations. */
export const removedOrganisations = {
  collection: organisationSection.collection,
  name: 'removedOrganisations',
} as const;

export function isInRemoval({ partition }: StoredDocument): boolean {
  return isInSection(partition, removedOrganisations);
}

/**
 * All sections of an export file except the section of the organisation's own record. Exports and imports process the
 * sections in this order (zitadel 2.2).
 */
export const sections: readonly Section[] = [
  ...policySections,
  ...projectSections,
  humanUserSection,
  machineUserSection,
  ...actionSections,
  ...grantSections,
  ...memberSections,
  userMetadataSection,
  ...textSections,
  ...identityProviderSections,
  domainSection,
  ...keySections,
  ...laterTextSections,
];

export const recordSections: readonly Section[] = [organisationSection, ...sections];

const recordSectionsByName: ReadonlyMap<string, Section> = new Map(
  recordSections.map((section) => [section.name, section]),
);

/**
 * Returns the section with a name.
 * @throws Error if there is no such section
 */
export function recordSection(name: string): Section {
  const section = recordSectionsByName.get(name);
  if (section === undefined) throw new Error(`there is no section ${name}`);
  return section;
}

const byName: ReadonlyMap<string, Section> = new Map(
  sections.flatMap((section) => [section.name, ...(section.v1?.aliases ?? [])].map((name) => [name, section])),
);

/** Returns the section with a name; undefined for fields such as `orgId`, which contain no records. */
export function findSection(name: string): Section | undefined {
  return byName.get(name);
}

/**
 * True if a section's records have login names. The domain policy decides whether a login name must be unique in the
 * organisation or in the instance (zitadel 3.4).
 */
export function claimsLoginNames({ unique = [] }: Section): boolean {
  return unique.some(({ perOrganisationByDomainPolicy }) => perOrganisationByDomainPolicy === true);
}
