import { warn } from '../../errors/warnings.ts';
import { type JsonObject, parseObject } from '../../json/jsonObject.ts';
import type { StoredDocument } from '../../store/store.ts';
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
  zitadel: {
    fields: [
      {
        does: 'changes',
        fields: ['isVerified'],
        text: 'ZITADEL verifies each domain that it imports',
        here: { does: 'keeps domains unverified, and invents none', why: 'an import must not verify domains' },
        explains: ([other, zitadel]) => zitadel === true && other !== true,
        steps: [
          {
            reason: 'domain_verified',
            unlessValidated: true,
            remedy: 'remove this unverified domain after the import if that is not wanted',
            applies: (domain) => contentOf(domain).isVerified !== true,
          },
        ],
        plan: 'it verifies each domain, also unverified ones unless the domain policy of the organisation validates domains, and adds a domain of its own to each organisation',
      },
      {
        does: 'imports not',
        fields: ['validationType'],
        text: 'ZITADEL does not import how a domain was verified (`validationType`)',
        steps: [
          {
            reason: 'validation_type_not_imported',
            remedy: 'verify it there if the way matters',
            applies: (domain) => contentOf(domain).validationType !== undefined,
          },
        ],
      },
    ],
    records: [
      {
        does: 'adds',
        text: 'ZITADEL adds a domain to each organisation',
        when: (id, { domains }) => domains.some((domain) => id.endsWith(`.${domain}`)),
      },
    ],
  },
  privilege: { type: 'domain', texts: 'domainName', onlyIf: 'isVerified', ...inOrganisation },
  error: { type: 'domain', id: ['$orgId', 'domainName'], exists: { id: 'V2-e1wse', key: 'Errors.Already.Exists' } },
  success: { field: 'domains', entry: ['domainName'] },
};

function contentOf({ body }: StoredDocument): JsonObject {
  return parseObject(body);
}

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
