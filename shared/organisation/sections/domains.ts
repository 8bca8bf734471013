import { warn } from '../../errors/warnings.ts';
import type { JsonObject } from '../../json/jsonObject.ts';
import { nameOrganisation } from '../recordBody.ts';
import type { Adjustment, OrganisationRules, Section } from '../section.ts';
import { trimmedText } from '../valueRules.ts';
import { inOrganisation, taken } from './references.ts';

/** The section of an organisation's domains. */
export const domainSection: Section = {
  name: 'domains',
  collection: 'domains',
  phase: 1,
  zitadelStep: 'policies and domains',
  key: ['$orgId', 'domainName'],
  canonicalise: nameOrganisation,
  values: { domainName: trimmedText({ id: 'ORG-r3h4J', key: 'Errors.Invalid.Argument' }) },
  unique: [
    {
      type: 'domain',
      parts: ['domainName'],
      onlyIf: 'isVerified',
      taken: taken('Errors.Org.Domain.AlreadyExists'),
      lookAlikes: true,
    },
  ],
  adjusted: { field: 'isPrimary', marks: primaryMarks, adjust: keepOnePrimary },
  privilege: { type: 'domain', texts: 'domainName', onlyIf: 'isVerified', ...inOrganisation },
  error: { type: 'domain', id: ['$orgId', 'domainName'], exists: { id: 'V2-e1wse', key: 'Errors.Already.Exists' } },
  success: { field: 'domains', entry: ['domainName'] },
};

function primaryMarks({ isPrimary, isVerified }: JsonObject): readonly string[] {
  if (isPrimary !== true) return [];
  return isVerified === true ? ['primary', 'verified and primary'] : ['primary'];
}

/**
 * An organisation has one primary domain: the last domain that the file marks as primary. Where it validates its domains, an
 * unverified domain cannot be primary.
 */
function keepOnePrimary(
  { isPrimary, isVerified }: JsonObject,
  isLast: (mark: string) => boolean,
  { validatesDomains }: OrganisationRules,
): Adjustment | undefined {
  if (isPrimary !== true) return undefined;
  if (validatesDomains && isVerified !== true) {
    return { error: { type: 'domain_isprimary', issue: { id: 'ORG-Ggd32', key: 'Errors.Org.DomainNotVerified' } } };
  }
  if (isLast(validatesDomains ? 'verified and primary' : 'primary')) return undefined;
  return { warning: warn('primary_repeated', {}) };
}
