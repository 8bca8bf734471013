import type { Section } from '../section.ts';
import { nameOrganisation, taken } from '../sectionParts.ts';

/** The organisation itself: `org` and `orgState` of the document. Written before every other section. */
export const organisationSection: Section = {
  name: 'org',
  collection: 'organisations',
  phase: 1,
  key: ['$orgId'],
  normalise: (json) => {
    json.orgState ??= 'ORG_STATE_ACTIVE';
  },
  unique: [{ type: 'organisation', parts: ['org.name'], taken: taken('Errors.Org.AlreadyExists') }],
  error: { type: 'org', id: ['$orgId'], exists: { id: 'ORG-lapo2n', key: 'Errors.Org.AlreadyExisting' } },
};

/** The domains of an organisation. */
export const domainSection: Section = {
  name: 'domains',
  collection: 'domains',
  phase: 1,
  key: ['$orgId', 'domainName'],
  normalise: nameOrganisation,
  unique: [
    {
      type: 'domain',
      parts: ['domainName'],
      onlyIf: 'isVerified',
      taken: taken('Errors.Org.Domain.AlreadyExists'),
    },
  ],
  error: { type: 'domain', id: ['$orgId', 'domainName'], exists: { id: 'V2-e1wse', key: 'Errors.Already.Exists' } },
  success: { field: 'domains', entry: ['domainName'] },
};
