import { type RecordWarning, warn } from '../../errors/warnings.ts';
import { type JsonObject, parseObject, textAt } from '../../json/jsonObject.ts';
import { type DocumentKey, documentPath, type StoredDocument } from '../../store/store.ts';
import { claimKey } from '../claimKeys.ts';
import { nameOrganisation } from '../recordBody.ts';
import type { KeyedIssue } from '../relations.ts';
import { trimmedText, trimSpace } from '../valueRules.ts';
import type { Adjustment, OrganisationRules, PrimaryDomain, Section } from './section.ts';
import { inOrganisation, taken } from './sharedReferences.ts';

/**
 * The type of the claim that the primary domain of an organisation owns. Each organisation has one key for such a
 * claim, so it cannot have two primary domains.
 */
const PRIMARY_DOMAIN = 'primaryDomain';

export function primaryDomainKey(orgId: string): DocumentKey {
  return claimKey(PRIMARY_DOMAIN, [], [orgId]);
}

const NOT_PRIMARY = 'domain_isprimary';

const NAME_MISSING: KeyedIssue = {
  id: 'ORG-r3h4J',
  key: 'Errors.Invalid.Argument',
  params: { field: '`domainName`' },
};

export const domainSection: Section = {
  name: 'domains',
  collection: 'domains',
  phase: 1,
  zitadelStep: 'policies and domains',
  key: ['$orgId', 'domainName'],
  canonicalise: nameOrganisation,
  repeated: { field: 'orgId', by: '$orgId' },
  optional: ['details', 'isPrimary'],
  values: { domainName: trimmedText(NAME_MISSING) },
  unique: [
    {
      type: 'domain',
      parts: ['domainName'],
      onlyIf: 'isVerified',
      taken: taken('Errors.Org.Domain.AlreadyExists'),
      lookAlikes: true,
    },
    { type: PRIMARY_DOMAIN, parts: [], perOrganisation: true, onlyIf: 'isPrimary', taken: 'adjusted' },
  ],
  adjusted: { field: 'isPrimary', marks: primaryMarks, adjust: keepOnePrimary, held: primaryExists },
  zitadel: {
    fields: [
      {
        does: 'changes',
        fields: ['isVerified'],
        text: 'ZITADEL verifies each domain that it imports',
        explains: ([other, zitadel]) => zitadel === true && other !== true,
        steps: [
          {
            reason: 'domain_verified',
            unlessValidated: true,
            remedy: 'remove this unverified domain after the import if it must not be verified',
            applies: (domain) => contentOf(domain).isVerified !== true,
          },
        ],
        plan: 'ZITADEL verifies each domain, except unverified domains of organisations whose domain policy validates domains; ZITADEL also adds a domain of its own to each organisation',
      },
      {
        does: 'imports not',
        fields: ['validationType'],
        text: 'ZITADEL does not import how a domain was verified (`validationType`)',
        steps: [
          {
            reason: 'validation_type_not_imported',
            remedy: 'verify the domain in ZITADEL again if the method matters',
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
  error: {
    type: 'domain',
    id: ['$orgId', 'domainName'],
    exists: { id: 'V2-e1wse', key: 'Errors.Already.Exists' },
    parts: [
      // With the default domain policy, ZITADEL verifies a domain as soon as its import adds the domain. The import
      // then tries to verify the domain a second time, which fails with this error.
      { type: 'domain_isverified', done: taken('Errors.Already.Exists').id },
      { type: NOT_PRIMARY },
    ],
  },
  success: { field: 'domains', entry: ['domainName'] },
};

function contentOf({ body }: StoredDocument): JsonObject {
  return parseObject(body);
}

const PRIMARY = 'primary';

/**
 * Maps a mark to the path of the last record in the file with this mark. A mark is a text such as `primary`, which
 * stands for a property of a domain.
 */
type LastMarked = ReadonlyMap<string, string>;

export function lastPrimaryPath(lastMarked: Pick<LastMarked, 'get'>): string | undefined {
  return lastMarked.get(PRIMARY);
}

/**
 * Reads an organisation's stored primary domain, and determines whether it stays primary (`isKept`). It stays primary
 * unless the import overwrites it and the last domain that the file marks as primary is another domain, or does not
 * exist.
 */
export function parsePrimaryDomain(stored: StoredDocument, lastMarked: LastMarked, overwrites: boolean): PrimaryDomain {
  const json = contentOf(stored);
  const domainName = domainNameOf(json);
  const isOverwritten = overwrites && lastMarked.has(domainMark(domainName));
  const isKept =
    !isOverwritten || lastPrimaryPath(lastMarked) === documentPath({ collection: 'domains', id: stored.id });
  return { domainName, isVerified: json.isVerified === true, isKept };
}

function primaryExists({ domainName }: JsonObject | PrimaryDomain): RecordWarning {
  return warn('primary_exists', { domain: String(domainName) });
}

function domainMark(domainName: string): string {
  return `domain ${domainName}`;
}

function domainNameOf(json: JsonObject): string {
  return trimSpace(textAt(json, 'domainName', ''));
}

function primaryMarks(json: JsonObject): readonly string[] {
  const domain = domainMark(domainNameOf(json));
  if (json.isPrimary !== true) return [domain];
  return json.isVerified === true ? [domain, PRIMARY, 'verified and primary'] : [domain, PRIMARY];
}

/**
 * Lets at most one domain of an organisation become primary. If `primaryDomain.isKept`, this is the stored primary
 * domain, otherwise the last domain that the file marks as primary. If the organisation's domains must be validated, an
 * unverified domain cannot become primary.
 */
function keepOnePrimary(
  json: JsonObject,
  isLast: (mark: string) => boolean,
  { validatesDomains, primaryDomain }: OrganisationRules,
): Adjustment | undefined {
  if (json.isPrimary !== true) return undefined;
  const isVerified = json.isVerified === true;
  const isStored = primaryDomain?.domainName === domainNameOf(json);
  const isPrimaryAlready = isStored && primaryDomain.isVerified === isVerified;
  if (validatesDomains && !isVerified && !isPrimaryAlready) {
    return { error: { type: NOT_PRIMARY, issue: { id: 'ORG-Ggd32', key: 'Errors.Org.DomainNotVerified' } } };
  }
  if (primaryDomain?.isKept === true) return isStored ? undefined : { warning: primaryExists(primaryDomain) };
  if (isLast(validatesDomains ? 'verified and primary' : PRIMARY)) return undefined;
  return { warning: warn('primary_repeated', {}) };
}
